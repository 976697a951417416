/**
 * The contract between the host and `@azure/functions` 4.16. The declaration of the library (`@azure/functions-core`)
 * is not published.
 */

/** An input or output value of an invocation. Exactly one member is set. */
export type RpcTypedData = {
  string?: string
  json?: string
  bytes?: Uint8Array
  http?: RpcHttpData
}

export type RpcNullable<T> = { value: T }

export type RpcHttpData = {
  method?: string
  url?: string
  nullableHeaders?: Record<string, RpcNullable<string>>
  nullableQuery?: Record<string, RpcNullable<string>>
  nullableParams?: Record<string, RpcNullable<string>>
  body?: RpcTypedData | null
  statusCode?: string
  headers?: Record<string, string>
}

/** A registered binding: the options of `app.http` and similar functions, and additions of the library. */
export type BindingInfo = { type: string; direction: 'in' | 'out' } & Record<string, unknown>

export type RpcRetryOptions = {
  retryStrategy: string
  /** -1: unlimited. */
  maxRetryCount: number
  delayInterval?: { seconds: number }
}

export type FunctionMetadata = {
  name: string
  bindings: Record<string, BindingInfo>
  retryOptions?: RpcRetryOptions
}

export type FunctionCallback = (...inputs: unknown[]) => unknown

export type RpcRetryContext = { retryCount: number; maxRetryCount: number }

export type InvocationRequest = {
  inputData: { name: string; data: RpcTypedData }[]
  triggerMetadata?: Record<string, RpcTypedData>
  retryContext?: RpcRetryContext
  traceContext?: { traceParent: string; traceState?: string }
}

type LogLevel = 'trace' | 'debug' | 'information' | 'warning' | 'error' | 'critical' | 'none'
type LogCategory = 'user' | 'system' | 'customMetric'

export type CoreInvocationContext = {
  invocationId: string
  request: InvocationRequest & { invocationId: string; functionId: string }
  metadata: FunctionMetadata
  log(level: LogLevel, category: LogCategory, message: string): void
}

export type InvocationResponse = { returnValue?: RpcTypedData | null }

type InvocationModel = {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>
  getResponse(context: unknown, result: unknown): Promise<InvocationResponse>
}

/** The model that the library passes to the core module at its first registration. */
export type ProgrammingModel = {
  getInvocationModel(context: CoreInvocationContext): InvocationModel
  getCapabilities(capabilities: Record<string, string>): Promise<Record<string, string>>
}

/** A log entry. Category `user`: the handlers, `system`: the library, `host`: the host. */
export type HostLogEntry = {
  readonly level: LogLevel
  readonly category: 'user' | 'system' | 'host'
  readonly message: string
  readonly functionName?: string
  readonly invocationId?: string
  readonly error?: unknown
}

export type HostLog = (entry: HostLogEntry) => void
