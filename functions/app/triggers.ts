import type {
  HttpFunctionOptions,
  HttpHandler,
  HttpMethod,
  ServiceBusQueueFunctionOptions,
  Timer,
  TimerFunctionOptions,
} from '@azure/functions'
import type { PublicFiles } from '../../shared/http/public-files.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { readSettings, type Settings } from '../../shared/settings/settings.ts'
import { type Respond, respondTo } from './host-request.ts'
import type { Service } from './service.ts'
import { exportTelemetry } from './telemetry.ts'

// The settings are read while the triggers load: a faulty one stops the start and not the first request.
const settings = readSettings()

// An instance starts with the triggers alone. The first invocation that needs them loads the code of the service and
// the clients of the servers that it calls.
const loadRuntime = once(async () => (await import('./runtime.ts')).buildRuntime(settings))
const loadCode = once(() => import('./invocations.ts'))
const loadService = once(async () => {
  const [{ buildService }, runtime] = await Promise.all([import('./service.ts'), loadRuntime()])
  return buildService(settings, runtime)
})

const loadServedRoutes = once(async () => {
  // Loading this package holds the thread for longer than a request may. With the first call of the directory, it would
  // hold the requests of others; the database needs the package anyway where it is opened with an identity.
  const packages = import('@azure/identity')
  const [{ servedRoutes }, service] = await Promise.all([import('./served-routes.ts'), loadService(), packages])
  return servedRoutes(service)
})

const openTelemetry = exportTelemetry(settings, loadRuntime)

/** What observes invocations. Telemetry is open before the first span, and again after a stop of the host. */
async function loadInvocations() {
  const [invocations] = await Promise.all([loadCode(), openTelemetry()])
  return invocations
}

/** Keeps the result: an `import()` of a loaded module still costs a twentieth of a request. */
function once<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

/** All methods: the host answers a method that is not listed with an empty 404, and ours is an envelope. */
const METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** The connection of every queue: the setting `ServiceBus`, or `ServiceBus__fullyQualifiedNamespace`. */
const CONNECTION = 'ServiceBus'

/** A route for all methods. Roles are checked by the service, not by host keys. */
const http = (route: string, handler: HttpHandler): HttpFunctionOptions => ({
  route,
  methods: METHODS,
  authLevel: 'anonymous',
  handler,
})

/** @param prefix As of `respondTo`. */
function observed(route: string, load: () => Promise<Respond>, prefix?: string): HttpFunctionOptions {
  const loadResponder = once(load)
  return http(route, async (request, context) => {
    const loaded = await Promise.all([loadInvocations(), loadResponder(), loadRuntime()])
    const [{ observedRequest }, respond, runtime] = loaded
    return observedRequest(request, context, () => respondTo(request, respond, prefix), runtime)
  })
}

/** The routes of a group, which are all below its prefix. Without a prefix, all paths. */
export function routesBelow(prefix: string): HttpFunctionOptions {
  const route = prefix === '' ? '{*rest}' : `${prefix}/{*rest}`
  return observed(route, async () => (await loadServedRoutes())(prefix), prefix)
}

/** Public files. They are made for the first request. */
export function publicFiles(
  route: string,
  load: (settings: Settings) => Promise<() => PublicFiles>,
): HttpFunctionOptions {
  return observed(route, async () => {
    const [{ fileResponder }, files, runtime] = await Promise.all([
      import('../../shared/http/public-files.ts'),
      load(settings),
      loadRuntime(),
    ])
    return fileResponder(files, runtime)
  })
}

/** A path that the platform requests at short intervals: without a span and without metrics. */
export function probe(
  route: string,
  load: (services: { readonly loadService: () => Promise<Service> }) => Promise<Respond>,
): HttpFunctionOptions {
  const loaded = once(() => load({ loadService }))
  return http(route, async (request) => respondTo(request, await loaded()))
}

/** The messages of a queue, one at a time. */
export function onMessage(queueName: QueueName): ServiceBusQueueFunctionOptions {
  return {
    connection: CONNECTION,
    queueName,
    handler: async (message, context) => {
      const [{ observedMessage }, service] = await Promise.all([loadInvocations(), loadService()])
      await observedMessage(queueName, message, context, service.messages[queueName], service)
    },
  }
}

/**
 * @param schedule seconds, minutes, hours, days, months, weekdays, in UTC
 * @param run Receives when the timer last ran, undefined for the first run.
 */
export function onSchedule(
  schedule: string,
  run: (service: Service, lastMs: number | undefined) => Promise<void>,
): TimerFunctionOptions {
  return {
    schedule,
    retry: RETRY,
    handler: async (timer, context) => {
      const [{ observedTimer }, service] = await Promise.all([loadInvocations(), loadService()])
      await observedTimer(context, () => run(service, lastRunMs(timer)), service)
    },
  }
}

/** A run that could not enqueue everything is repeated: its minutes come again only after an hour. */
const RETRY = { strategy: 'fixedDelay', maxRetryCount: 5, delayInterval: { seconds: 20 } } as const

/** The host reports year 1 for a timer that has not run yet. */
const EARLIEST_RUN_MS = Date.parse('2020-01-01T00:00:00Z')

function lastRunMs({ scheduleStatus }: Timer): number | undefined {
  const lastMs = Date.parse(scheduleStatus?.last ?? '')
  return lastMs >= EARLIEST_RUN_MS ? lastMs : undefined
}
