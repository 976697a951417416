import type { Registration } from './core-module.ts'
import type { AppSettings } from './host-settings.ts'
import { nextOccurrence, parseSchedule, type Schedule } from './ncrontab.ts'
import type { BindingInfo, RpcRetryOptions } from './programming-model.ts'

type Registered = {
  readonly name: string
  readonly registration: Registration
  /** Name of the trigger binding, which is the name of the input. */
  readonly triggerName: string
}

export type HttpFunction = Registered & {
  readonly trigger: 'http'
  readonly route: string
  readonly methods: ReadonlySet<string>
}

export type ServiceBusFunction = Registered & {
  readonly trigger: 'serviceBus'
  readonly queueName: string
  readonly connectionString: string
}

export type TimerFunction = Registered & {
  readonly trigger: 'timer'
  readonly schedule: Schedule
  readonly retry: RpcRetryOptions | undefined
}

export type AppFunction = HttpFunction | ServiceBusFunction | TimerFunction

type Triggered = Registered & { readonly binding: BindingInfo }

/** Valid function names of the platform. */
const FUNCTION_NAME = /^[a-z][a-z0-9_-]{0,127}$/i

/**
 * Converts registrations to functions that this host can run.
 * @param fault receives the error of a function, which is then omitted
 */
export function appFunctions(
  registrations: readonly Registration[],
  settings: AppSettings,
  fault: (functionName: string, problem: string) => void,
): AppFunction[] {
  const functions: AppFunction[] = []
  const entryByName = new Map<string, string>()
  for (const registration of registrations) {
    const { name } = registration.metadata
    const earlier = entryByName.get(name.toLowerCase())
    if (earlier !== undefined)
      fault(name, `the name is not unique (registered by ${earlier} and ${registration.entry})`)
    entryByName.set(name.toLowerCase(), registration.entry)
    try {
      functions.push(appFunction(registration, settings))
    } catch (error) {
      fault(name, error instanceof Error ? error.message : String(error))
    }
  }
  return functions
}

function appFunction(registration: Registration, settings: AppSettings): AppFunction {
  const triggered = triggerOf(registration)
  if (!FUNCTION_NAME.test(triggered.name))
    throw new Error('a name must start with a letter and contain only letters, digits, "-" and "_"')
  switch (triggered.binding.type) {
    case 'httpTrigger':
      return httpFunction(triggered)
    case 'serviceBusTrigger':
      return serviceBusFunction(triggered, settings)
    case 'timerTrigger':
      return timerFunction(triggered)
    default:
      throw new Error(`this host does not support ${triggered.binding.type}`)
  }
}

function triggerOf(registration: Registration): Triggered {
  const { name, bindings } = registration.metadata
  let trigger: Triggered | undefined
  for (const [triggerName, binding] of Object.entries(bindings)) {
    if (/trigger$/i.test(binding.type)) trigger = { name, registration, triggerName, binding }
    else if (binding.type !== 'http') throw new Error(`this host does not support ${binding.type} bindings`)
  }
  if (trigger === undefined) throw new Error('it has no trigger')
  return trigger
}

function httpFunction({ binding, ...registered }: Triggered): HttpFunction {
  const { route, methods = [] } = binding as { route?: string; methods?: readonly string[] }
  return {
    ...registered,
    trigger: 'http',
    route: route || registered.name,
    methods: new Set(methods.map((method) => method.toUpperCase())),
  }
}

function serviceBusFunction({ binding, ...registered }: Triggered, settings: AppSettings): ServiceBusFunction {
  const { queueName, connection = '' } = binding as { queueName?: string; connection?: string }
  if (!queueName) throw new Error('queueName is required because this host supports queues only')
  refuseOptions(binding, { cardinality: 'one', dataType: 'string', isSessionsEnabled: false })
  const connectionString = settings[connection]
  if (!connectionString) throw new Error(`the connection string ${connection} is not set`)
  return { ...registered, trigger: 'serviceBus', queueName, connectionString }
}

function timerFunction({ binding, ...registered }: Triggered): TimerFunction {
  const { schedule } = binding as { schedule?: string }
  if (!schedule) throw new Error('it has no schedule')
  refuseOptions(binding, { runOnStartup: false })
  const parsed = parseSchedule(schedule)
  if (nextOccurrence(parsed, 0) === undefined) throw new Error(`the schedule "${schedule}" never occurs`)
  const retry = registered.registration.metadata.retryOptions
  if (retry !== undefined) refuseOptions(retry, { retryStrategy: 'fixedDelay' })
  return { ...registered, trigger: 'timer', schedule: parsed, retry }
}

/** Refuses options with another value than the one that this host supports. */
function refuseOptions(options: Readonly<Record<string, unknown>>, supported: Readonly<Record<string, unknown>>): void {
  const refused = Object.keys(supported).find((name) => ![undefined, supported[name]].includes(options[name]))
  if (refused !== undefined) throw new Error(`this host does not support ${refused} ${String(options[refused])}`)
}
