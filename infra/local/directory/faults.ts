import { type Static, type TSchema, Type } from 'typebox'
import { Errors } from 'typebox/value'
import { answered, DELTA_FLAWS, errorBody, type Flaw, type GraphAnswer } from './graph/exchange.ts'

/** Up to a day in milliseconds, which a timer supports. */
const Duration = Type.Integer({ minimum: 0, maximum: 86_400_000 })

/** An injected fault of Graph. The first fault that matches a request or a batch item applies. */
const FaultDefinition = Type.Object(
  {
    method: Type.Optional(Type.String({ minLength: 1 })),
    /** A regular expression for the path, including `/v1.0` and without the query. */
    path: Type.Optional(Type.String({ format: 'regex' })),
    /** A regular expression for the text of the body: for writes that name a certain account. */
    body: Type.Optional(Type.String({ format: 'regex' })),
    /** Number of affected requests. Default: all until the faults are removed. */
    times: Type.Optional(Type.Integer({ minimum: 1 })),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    /** Of the error, in place of the usual one of the status. */
    message: Type.Optional(Type.String({ minLength: 1 })),
    /** Sets `Retry-After`. The default status is then 429. */
    retryAfterS: Type.Optional(Duration),
    /** Delay before the request is processed. */
    delayMs: Type.Optional(Duration),
    /** Closes the connection without a response. */
    drop: Type.Optional(Type.Boolean()),
    /** Processes the request but returns a failure (default 504). */
    applyFirst: Type.Optional(Type.Boolean()),
    /** Returns an HTML page instead of the error body. */
    html: Type.Optional(Type.Boolean()),
    /** Returns the members of a group as they were this many milliseconds ago. */
    staleMs: Type.Optional(Duration),
    /**
     * Of a delta query: `emptyPage` inserts a page without groups, `replay` repeats the changes of the round before,
     * `reset` rejects the token as expired.
     */
    delta: Type.Optional(Type.Enum([...DELTA_FLAWS])),
  },
  { additionalProperties: false },
)

export type FaultDefinition = Readonly<Static<typeof FaultDefinition>>

export type Faults = {
  take(request: { readonly method: string; readonly path: string; readonly body?: unknown }): Fault | undefined
  /** @throws ControlRefusal for an invalid fault */
  add(definition: unknown): void
  clear(): void
}

type Fault = {
  readonly delayMs: number
  readonly failure: 'none' | 'drop' | GraphAnswer
  readonly applyFirst: boolean
  readonly flaw: Flaw
}

const ERROR_CODES: Record<number, readonly [code: string, message: string]> = {
  400: ['Request_BadRequest', 'Bad request.'],
  401: ['InvalidAuthenticationToken', 'Access token validation failure.'],
  403: ['Authorization_RequestDenied', 'Insufficient privileges to complete the operation.'],
  404: [
    'Request_ResourceNotFound',
    'Resource does not exist or one of its queried reference-property objects are not present.',
  ],
  409: [
    'Directory_ConcurrencyViolation',
    'Error due to concurrent requests being made to the tenant. Please wait briefly and retry.',
  ],
  429: ['TooManyRequests', 'Please retry again later.'],
  500: ['InternalServerError', 'The server encountered an unexpected error.'],
  502: ['BadGateway', 'The upstream server did not answer as expected.'],
  503: ['ServiceUnavailable', 'The service is temporarily unavailable. Please retry later.'],
  504: ['GatewayTimeout', 'The upstream server did not answer in time.'],
}

/** Injected faults. The first matching fault applies to a request. */
export function faultList(nowMs: () => number): Faults {
  const active: { definition: FaultDefinition; path: RegExp; body: RegExp; left: number }[] = []
  return {
    take({ method, path, body }) {
      const index = active.findIndex(
        ({ definition, ...fault }) =>
          (definition.method ?? method).toUpperCase() === method &&
          fault.path.test(path) &&
          (definition.body === undefined || fault.body.test(textOf(body))),
      )
      const fault = active[index]
      if (fault === undefined) return undefined
      fault.left -= 1
      if (fault.left === 0) active.splice(index, 1)
      const { delayMs = 0, applyFirst = false, staleMs = 0, delta } = fault.definition
      return { delayMs, applyFirst, flaw: { staleMs, delta }, failure: failureOf(fault.definition, nowMs()) }
    },
    add(body) {
      const definition = parsedFault(body)
      active.push({
        definition,
        path: new RegExp(definition.path ?? ''),
        body: new RegExp(definition.body ?? ''),
        left: definition.times ?? Number.POSITIVE_INFINITY,
      })
    },
    clear: () => void active.splice(0),
  }
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body ?? ''))

function failureOf(definition: FaultDefinition, nowMs: number): Fault['failure'] {
  if (definition.drop === true) return 'drop'
  const status = statusOf(definition)
  if (status === undefined) return 'none'
  const headers: Record<string, string> =
    definition.retryAfterS === undefined ? {} : { 'retry-after': String(definition.retryAfterS) }
  if (definition.html === true) {
    return {
      status,
      headers: { ...headers, 'content-type': 'text/html' },
      body: `<html><body><h1>${status}</h1></body></html>`,
    }
  }
  const [code, message] = ERROR_CODES[status] ?? ['UnknownError', `Injected fault with status ${status}.`]
  return { ...answered(status, errorBody(code, definition.message ?? message, nowMs)), headers }
}

function statusOf({ status, retryAfterS, applyFirst, html }: FaultDefinition): number | undefined {
  if (status !== undefined) return status
  if (retryAfterS !== undefined) return 429
  if (applyFirst === true) return 504
  return html === true ? 503 : undefined
}

function parsedFault(body: unknown): FaultDefinition {
  const definition = controlBody(FaultDefinition, body)
  const { drop, delayMs, staleMs, delta } = definition
  if (drop === true || (delayMs ?? staleMs ?? delta ?? statusOf(definition)) !== undefined) return definition
  throw new ControlRefusal('A fault requires status, retryAfterS, delayMs, drop, applyFirst, html, staleMs or delta')
}

/** An invalid request to `/local/...`, answered with 400 and this message. */
export class ControlRefusal extends Error {}

/** The body of a control route. @throws ControlRefusal that names the invalid member */
export function controlBody<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  const [fault] = Errors(schema, body)
  if (fault === undefined) return body as Static<Schema>
  throw new ControlRefusal(`Body${fault.instancePath} ${fault.message}: ${JSON.stringify(fault.params)}`)
}
