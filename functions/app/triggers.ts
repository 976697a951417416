import type {
  HttpFunctionOptions,
  HttpHandler,
  HttpMethod,
  ServiceBusQueueFunctionOptions,
  ServiceBusQueueHandler,
  TimerFunctionOptions,
  TimerHandler,
} from '@azure/functions'
import type { QueueName } from '../../shared/messaging/queues.ts'
// Only for what they do when loaded: an app of faulty settings is not to start, and the host has to be told at the start
// of what it is to expect and to call.
import './settings.ts'
import './telemetry.ts'

/**
 * What a trigger does lies in a module of its own, which the first invocation loads: an instance starts with the
 * triggers alone, and the clients of what it never talks to are never loaded.
 */
type Load<Handler> = () => Promise<{ readonly handle: Handler }>

/** An `import()` of what is long loaded still costs a twentieth of a request: its outcome is kept. */
function loadedOnce<Handler>(load: Load<Handler>): Load<Handler> {
  let loaded: ReturnType<Load<Handler>> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

/** All of them: the host answers a method that it does not know with an empty 404, and ours is to be an envelope. */
const METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** The connection of every queue: the setting `ServiceBus`, or `ServiceBus__fullyQualifiedNamespace`. */
const CONNECTION = 'ServiceBus'

/** One path, whatever the method. Roles are checked behind it, not by host keys. */
export function httpAt(route: string, load: Load<HttpHandler>): HttpFunctionOptions {
  const loaded = loadedOnce(load)
  return {
    route,
    methods: METHODS,
    authLevel: 'anonymous',
    handler: async (request, context) => (await loaded()).handle(request, context),
  }
}

/** A prefix and everything below it; without a prefix, every path. */
export function httpBelow(prefix: string, load: Load<HttpHandler>): HttpFunctionOptions {
  return httpAt(prefix === '' ? '{*rest}' : `${prefix}/{*rest}`, load)
}

/** The messages of a queue, one by one. */
export function onMessage(queueName: QueueName, load: Load<ServiceBusQueueHandler>): ServiceBusQueueFunctionOptions {
  const loaded = loadedOnce(load)
  return {
    connection: CONNECTION,
    queueName,
    handler: async (message, context) => (await loaded()).handle(message, context),
  }
}

/** @param schedule seconds, minutes, hours, days, months, weekdays, in UTC */
export function onSchedule(schedule: string, load: Load<TimerHandler>): TimerFunctionOptions {
  const loaded = loadedOnce(load)
  return { schedule, handler: async (timer, context) => (await loaded()).handle(timer, context) }
}
