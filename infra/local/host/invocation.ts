import { randomUUID } from 'node:crypto'
import type {
  CoreInvocationContext,
  HookName,
  HostLog,
  InvocationRequest,
  InvocationResponse,
  LogCategory,
  LogLevel,
  ProgrammingModel,
} from './programming-model.ts'
import type { Hook, Registration } from './registry.ts'

/** Runs a function once. Rejects with the error of the handler, a hook or a conversion. */
export type Invoke = (registration: Registration, request: InvocationRequest) => Promise<InvocationResponse>

export type Invoker = {
  readonly invoke: Invoke
  /** Resolves when no invocation runs, including those of disconnected clients. */
  idle(): Promise<void>
  /** Runs the start or terminate hooks of the app, in order of registration. */
  runAppHooks(name: 'appStart' | 'appTerminate'): Promise<void>
}

type HookData = Record<string, unknown>

/** Runs invocations through the model of the library, like the Node.js worker, so that all conversions equal Azure. */
export function createInvoker(model: ProgrammingModel, hooks: readonly Hook[], log: HostLog): Invoker {
  const appHookData: HookData = {}
  const hooksNamed = (name: HookName) => hooks.filter((hook) => hook.name === name).map(({ callback }) => callback)
  const preInvocation = hooksNamed('preInvocation')
  const postInvocation = hooksNamed('postInvocation')
  const logHooks = hooksNamed('log')

  function coreContext({ metadata }: Registration, request: InvocationRequest): CoreInvocationContext {
    const invocationId = randomUUID()
    return {
      invocationId,
      request: { traceContext: newTrace(invocationId), ...request, invocationId, functionId: metadata.name },
      metadata,
      state: undefined,
      log(level, category, message) {
        const entry = { level, category, message, hookData: {}, appHookData }
        // A log hook can change level and message. Its failure must not fail the invocation.
        for (const hook of logHooks) attempt(() => hook(entry), log)
        log({ ...logged(entry), functionName: metadata.name, invocationId })
      },
    }
  }

  async function invokeOnce(registration: Registration, request: InvocationRequest): Promise<InvocationResponse> {
    const core = coreContext(registration, request)
    const invocation = model.getInvocationModel(core)
    const { context, inputs } = await invocation.getArguments()
    const functionCallback = registration.callback
    const before = { hookData: {}, appHookData, invocationContext: context, inputs, functionCallback }
    core.state = 'preInvocationHooks'
    for (const hook of preInvocation) await hook(before)
    core.state = 'invocation'
    const run = () => invocation.invokeFunction(context, before.inputs, before.functionCallback)
    if (postInvocation.length === 0) return invocation.getResponse(context, await run())
    const after = { ...before, ...(await outcomeOf(run)) }
    core.state = 'postInvocationHooks'
    for (const hook of postInvocation) await hook(after)
    core.state = undefined
    // A hook can clear or set the error, and replace the result.
    if (after.error !== null && after.error !== undefined) throw after.error
    return invocation.getResponse(context, after.result)
  }

  let runningCount = 0
  let becameIdle: PromiseWithResolvers<void> | undefined
  return {
    async invoke(registration, request) {
      runningCount++
      try {
        return await invokeOnce(registration, request)
      } finally {
        if (--runningCount === 0) becameIdle?.resolve()
      }
    },
    async idle() {
      if (runningCount === 0) return
      becameIdle ??= Promise.withResolvers<void>()
      await becameIdle.promise
    },
    async runAppHooks(name) {
      for (const hook of hooksNamed(name)) await hook({ hookData: appHookData, appHookData })
    },
  }
}

async function outcomeOf(run: () => Promise<unknown>): Promise<{ result: unknown; error: unknown }> {
  try {
    return { result: await run(), error: null }
  } catch (error) {
    return { result: null, error }
  }
}

function attempt(action: () => unknown, log: HostLog): void {
  try {
    action()
  } catch (error) {
    log({ level: 'error', category: 'host', message: 'A log hook failed', error })
  }
}

function logged({ level, category, message }: { level: LogLevel; category: LogCategory; message: string }) {
  return { level, category: category === 'user' ? ('user' as const) : ('system' as const), message }
}

/** A new W3C trace for an invocation without trace context, with ids from the random invocation id. */
function newTrace(invocationId: string): { traceParent: string } {
  const digits = invocationId.replaceAll('-', '')
  return { traceParent: `00-${digits}-${digits.slice(16)}-00` }
}
