import { randomUUID } from 'node:crypto'
import type { Registration } from './core-module.ts'
import type {
  CoreInvocationContext,
  HostLog,
  InvocationRequest,
  InvocationResponse,
  ProgrammingModel,
} from './programming-model.ts'

/** Runs a function once. Rejects with the error of the handler or a conversion. */
export type Invoke = (registration: Registration, request: InvocationRequest) => Promise<InvocationResponse>

export type Invoker = {
  readonly invoke: Invoke
  /** Resolves when no invocation runs, including those of disconnected clients. */
  idle(): Promise<void>
  isIdle(): boolean
}

/** Runs invocations through the model of the library, like the Node.js worker, so that all conversions equal Azure. */
export function createInvoker(model: ProgrammingModel, log: HostLog): Invoker {
  function coreContext({ metadata }: Registration, request: InvocationRequest): CoreInvocationContext {
    const invocationId = randomUUID()
    return {
      invocationId,
      request: { traceContext: newTrace(invocationId), ...request, invocationId, functionId: metadata.name },
      metadata,
      log: (level, category, message) =>
        log({
          level,
          category: category === 'user' ? 'user' : 'system',
          message,
          functionName: metadata.name,
          invocationId,
        }),
    }
  }

  let runningCount = 0
  let becameIdle: PromiseWithResolvers<void> | undefined
  return {
    async invoke(registration, request) {
      runningCount++
      try {
        const invocation = model.getInvocationModel(coreContext(registration, request))
        const { context, inputs } = await invocation.getArguments()
        const result = await invocation.invokeFunction(context, inputs, registration.callback)
        return await invocation.getResponse(context, result)
      } finally {
        if (--runningCount === 0) becameIdle?.resolve()
      }
    },
    async idle() {
      if (runningCount === 0) return
      becameIdle ??= Promise.withResolvers<void>()
      await becameIdle.promise
    },
    isIdle: () => runningCount === 0,
  }
}

/** A new W3C trace for an invocation without trace context, with ids from the random invocation id. */
function newTrace(invocationId: string): { traceParent: string } {
  const digits = invocationId.replaceAll('-', '')
  return { traceParent: `00-${digits}-${digits.slice(16)}-00` }
}
