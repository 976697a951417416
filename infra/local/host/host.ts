import { type AppFunction, appFunctions, type TimerFunction } from './app-functions.ts'
import type { TerminateHook } from './core-module.ts'
import { type HostJson, readHostJson } from './host-settings.ts'
import { answerHttp, type StartByHand } from './http-front.ts'
import { createInvoker, type Invoke, type Invoker } from './invocation.ts'
import { loadApp } from './loader.ts'
import { type LoopbackServer, listenOnLoopback } from './loopback-server.ts'
import type { HostLog, HostLogEntry } from './programming-model.ts'
import { type RouteTable, routeTable } from './route-table.ts'
import { type OpenBus, openServiceBus, type Pump, startPump } from './service-bus-pump.ts'
import { type RunningTimer, startTimer } from './timer.ts'

export type HostOptions = {
  /** Folder of host.json. */
  readonly appFolder: string
  /** Entry files or globs, relative to the folder. Default: `main` of its package.json. */
  readonly entries?: readonly string[]
  /** 0 selects a free port. */
  readonly port: number
  /** Connection strings by name, and which timers are disabled. The app itself reads its environment. */
  readonly settings: Readonly<Record<string, string>>
  readonly nowMs?: () => number
  readonly log: (entry: HostLogEntry) => void
  /** Factory of Service Bus clients. Default: the SDK. */
  readonly openBus?: OpenBus
}

export type LocalHost = {
  readonly url: string
  readonly functions: readonly { readonly name: string; readonly trigger: 'http' | 'serviceBus' | 'timer' }[]
  /** Runs a timer function once. Rejects with its error, or if the function does not exist. */
  invoke(name: string): Promise<void>
  /** Whether no function runs. */
  isIdle(): boolean
  /** Waits up to 4 s for running functions, then releases all resources. Can be called repeatedly. */
  close(): Promise<void>
}

/** Time limits for requests, messages and timer runs, then for the hooks of the app: 4 s in total. */
const DRAIN_MS = 3_500
const TERMINATE_MS = 500

/** The timers by their names in lower case. */
type Running = { timers: Map<string, RunningTimer>; server?: LoopbackServer; pump?: Pump }

/**
 * Runs an unmodified Azure Functions app: loads its entry files, serves HTTP on localhost, and runs message functions
 * from their queues and timer functions on their schedules. A process can run several hosts. An entry file is evaluated
 * once; later hosts run the same handlers with the same module state.
 * @throws Error if the port is in use, no functions are registered, or a function is invalid. Stops all parts first.
 */
export async function startHost(options: HostOptions): Promise<LocalHost> {
  const { log } = options
  const running: Running = { timers: new Map() }
  try {
    const hostJson = await readHostJson(options.appFolder)
    const app = await loadApp(options.appFolder, options.entries)
    const { functions, routes } = checkedFunctions(app.functions, options.settings, hostJson)
    const invoker = createInvoker(app.model, log)
    await startTriggers(running, { functions, routes, invoker, hostJson }, options)
    let closed: Promise<void> | undefined
    return {
      url: `http://localhost:${running.server?.port}`,
      functions: functions.map(({ name, trigger }) => ({ name, trigger })),
      async invoke(name) {
        const timer = running.timers.get(name.toLowerCase())
        if (timer === undefined) throw new Error(`There is no timer function "${name}"`)
        await timer.runByHand()
      },
      isIdle: () => invoker.isIdle(),
      close() {
        closed ??= stop(running, log, invoker, app.terminateHooks)
        return closed
      },
    }
  } catch (error) {
    await stop(running, log)
    throw error
  }
}

/** @throws Error with the error of each invalid function */
function checkedFunctions(
  registrations: Parameters<typeof appFunctions>[0],
  settings: HostOptions['settings'],
  { routePrefix }: HostJson,
): { functions: readonly AppFunction[]; routes: RouteTable } {
  const faults: string[] = []
  const fault = (name: string, problem: string) => void faults.push(`Function "${name}": ${problem}`)
  const functions = appFunctions(registrations, settings, fault)
  const httpFunctions = functions.filter((fn) => fn.trigger === 'http')
  const routes = routeTable(httpFunctions, routePrefix, fault)
  if (faults.length > 0) throw new Error(`The app cannot start.\n${faults.join('\n')}`)
  return { functions, routes }
}

type Startable = {
  readonly functions: readonly AppFunction[]
  readonly routes: RouteTable
  readonly invoker: Invoker
  readonly hostJson: HostJson
}

/** Adds started parts to `running`, also if a later part fails. */
async function startTriggers(running: Running, app: Startable, options: HostOptions): Promise<void> {
  const { functions, routes, invoker, hostJson } = app
  const { invoke } = invoker
  const { log, openBus = openServiceBus } = options
  const startByHand = startInBackground(running.timers, log)
  running.server = await listenOnLoopback(options.port, answerHttp({ routes, invoke, startByHand, log }))
  const messageFunctions = functions.filter((fn) => fn.trigger === 'serviceBus')
  running.pump = await startPump({ functions: messageFunctions, serviceBus: hostJson.serviceBus, openBus, invoke, log })
  for (const fn of functions) {
    if (fn.trigger === 'timer') running.timers.set(fn.name.toLowerCase(), runTimer(fn, invoke, options))
  }
}

function runTimer(fn: TimerFunction, invoke: Invoke, options: HostOptions): RunningTimer {
  const { log, settings, nowMs = Date.now } = options
  return startTimer({
    schedule: fn.schedule,
    isDisabled: settings[`AzureWebJobs.${fn.name}.Disabled`] === 'true',
    retry: fn.retry,
    nowMs,
    async run(info, retryContext) {
      const inputData = [{ name: fn.triggerName, data: { json: JSON.stringify(info) } }]
      await invoke(fn.registration, { inputData, ...(retryContext && { retryContext }) })
    },
    failed: (error) =>
      log({ level: 'error', category: 'host', message: 'A timer run failed', functionName: fn.name, error }),
  })
}

const startInBackground =
  (timers: Running['timers'], log: HostLog): StartByHand =>
  (functionName) => {
    const timer = timers.get(functionName.toLowerCase())
    timer
      ?.runByHand()
      .catch((error: unknown) =>
        log({ level: 'error', category: 'host', message: 'A manual run failed', functionName, error }),
      )
    return timer !== undefined
  }

async function stop(
  { server, pump, timers }: Running,
  log: HostLog,
  invoker?: Invoker,
  hooks: readonly TerminateHook[] = [],
): Promise<void> {
  const triggers = [server?.close(), pump?.close(), ...timers.values().map((timer) => timer.stop())]
  const ended = Promise.all(triggers).then(() => invoker?.idle())
  if (!(await endsWithin(DRAIN_MS, ended))) {
    log({ level: 'warning', category: 'host', message: `Stopped with work still running after ${DRAIN_MS} ms` })
  }
  server?.cut()
  const terminated = runInOrder(hooks).catch((error: unknown) =>
    log({ level: 'error', category: 'host', message: 'An appTerminate hook failed', error }),
  )
  await endsWithin(TERMINATE_MS, terminated)
}

async function runInOrder(hooks: readonly TerminateHook[]): Promise<void> {
  for (const hook of hooks) await hook({ hookData: {}, appHookData: {} })
}

function endsWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<boolean>()
  const timeout = setTimeout(resolve, limitMs, false)
  return Promise.race([work.then(() => true), expired]).finally(() => clearTimeout(timeout))
}
