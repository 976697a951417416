import { answered, DELTA_FLAWS, errorBody, type Flaw, type GraphAnswer } from './graph/exchange.ts'

/** An injected fault of Graph. The first fault that matches a request or a batch item applies. */
export type FaultDefinition = {
  readonly method?: string
  /** A regular expression for the path, including `/v1.0` and without the query. */
  readonly path?: string
  /** Number of affected requests. Default: all until the faults are removed. */
  readonly times?: number
  readonly status?: number
  /** Sets `Retry-After`. The default status is then 429. */
  readonly retryAfterS?: number
  /** Delay before the request is processed. */
  readonly delayMs?: number
  /** Closes the connection without a response. */
  readonly drop?: boolean
  /** Processes the request but returns a failure (default 504). */
  readonly applyFirst?: boolean
  /** Returns an HTML page instead of the error body. */
  readonly html?: boolean
  /** Returns the members of a group as they were this many milliseconds ago. */
  readonly staleMs?: number
  /**
   * Of a delta query: `emptyPage` inserts a page without groups, `replay` repeats the changes of the round before,
   * `reset` rejects the token as expired.
   */
  readonly delta?: (typeof DELTA_FLAWS)[number]
}

export type Faults = {
  take(method: string, path: string): Fault | undefined
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

const MEMBERS = [
  'method',
  'path',
  'times',
  'status',
  'retryAfterS',
  'delayMs',
  'drop',
  'applyFirst',
  'html',
  'staleMs',
  'delta',
] as const

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
  const active: { definition: FaultDefinition; path: RegExp; left: number }[] = []
  return {
    take(method, path) {
      const index = active.findIndex(
        (fault) => (fault.definition.method ?? method).toUpperCase() === method && fault.path.test(path),
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
        left: definition.times ?? Number.POSITIVE_INFINITY,
      })
    },
    clear: () => void active.splice(0),
  }
}

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
  return { ...answered(status, errorBody(code, message, nowMs)), headers }
}

function statusOf({ status, retryAfterS, applyFirst, html }: FaultDefinition): number | undefined {
  if (status !== undefined) return status
  if (retryAfterS !== undefined) return 429
  if (applyFirst === true) return 504
  return html === true ? 503 : undefined
}

function parsedFault(body: unknown): FaultDefinition {
  const members = controlBody(body, MEMBERS)
  const definition = {
    ...member(members, 'method', isText, 'a non-empty string'),
    ...member(members, 'path', isExpression, 'a regular expression'),
    ...member(members, 'times', (value) => isCount(value) && value > 0, 'an integer from 1'),
    ...member(members, 'status', (value) => isCount(value) && value >= 200 && value <= 599, 'a status from 200 to 599'),
    ...member(members, 'retryAfterS', isCount, 'an integer number of seconds'),
    ...member(members, 'delayMs', isCount, 'an integer number of milliseconds'),
    ...member(members, 'drop', isBoolean, 'true or false'),
    ...member(members, 'applyFirst', isBoolean, 'true or false'),
    ...member(members, 'html', isBoolean, 'true or false'),
    ...member(members, 'staleMs', isCount, 'an integer number of milliseconds'),
    ...member(members, 'delta', isDeltaFlaw, `one of ${DELTA_FLAWS.join(', ')}`),
  } as FaultDefinition
  const { delayMs, staleMs, delta } = definition
  const succeeds = delayMs !== undefined || staleMs !== undefined || delta !== undefined
  if (definition.drop !== true && !succeeds && statusOf(definition) === undefined) {
    throw new ControlRefusal('A fault requires status, retryAfterS, delayMs, drop, applyFirst, html, staleMs or delta')
  }
  return definition
}

function member(
  members: Readonly<Record<string, unknown>>,
  name: (typeof MEMBERS)[number],
  isValid: (value: unknown) => boolean,
  expected: string,
): Record<string, unknown> {
  const value = members[name]
  if (value === undefined || value === null) return {}
  if (!isValid(value)) throw new ControlRefusal(`${name} must be ${expected}`)
  return { [name]: value }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isDeltaFlaw = (value: unknown): boolean => DELTA_FLAWS.some((flaw) => flaw === value)
/** Up to a day in milliseconds, which a timer supports. */
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 86_400_000

function isExpression(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    return new RegExp(value) !== null
  } catch {
    // Reported as an invalid member.
    return false
  }
}

/** An invalid request to `/local/...`, answered with 400 and this message. */
export class ControlRefusal extends Error {}

/** @throws ControlRefusal unless the body is a JSON object with these members only */
export function controlBody(body: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlRefusal('The body must be a JSON object')
  }
  const unknown = Object.keys(body).find((name) => !members.includes(name))
  if (unknown !== undefined) throw new ControlRefusal(`Unknown member ${unknown}. Use ${members.join(', ')}`)
  return body as Record<string, unknown>
}
