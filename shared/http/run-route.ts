import { createHash } from 'node:crypto'
import { type IdempotencyDependencies, runOnce, singleAttempt } from '../domain/idempotency/run-once.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { RouteResult } from './envelope.ts'
import type { HttpRequest } from './request.ts'
import { isCreating, type Route, type RouteInput } from './route.ts'

/** 1 to 255 printable ASCII characters. */
const VALID_KEY = /^[ -~]{1,255}$/

/**
 * Runs a route. A route that creates something runs once per caller and `Idempotency-Key`; a repeated request gets the
 * stored result, with the header `idempotency-replayed`.
 * @throws Refusal `IdempotencyKeyInvalid`, `IdempotencyKeyReused`, `IdempotencyKeyInUse`, and those of the route.
 */
export async function runRoute(
  route: Route,
  input: Omit<RouteInput, 'creation'>,
  request: Pick<HttpRequest, 'header'>,
  deps: IdempotencyDependencies,
): Promise<RouteResult> {
  const key = isCreating(route) ? idempotencyKeyOf(request) : undefined
  if (key === undefined) return route.run({ ...input, creation: singleAttempt(deps) })
  const { tenantId, objectId: callerId } = input.caller
  const idempotent = { tenantId, callerId, key, fingerprint: fingerprintOf(route, input) }
  const { result, isReplayed } = await runOnce(idempotent, (creation) => route.run({ ...input, creation }), deps)
  return isReplayed ? { ...result, headers: { ...result.headers, 'idempotency-replayed': 'true' } } : result
}

function idempotencyKeyOf(request: Pick<HttpRequest, 'header'>): string | undefined {
  const key = request.header('idempotency-key')
  if (key === null || VALID_KEY.test(key)) return key ?? undefined
  throw new Refusal('IdempotencyKeyInvalid', undefined, 'Idempotency-Key')
}

/** A hash of the route's input, not of the bytes: the order of members does not matter. */
function fingerprintOf({ operationId }: Route, { path, query, body }: Omit<RouteInput, 'creation'>): string {
  const text = JSON.stringify([operationId, path, query, body], (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? inOrder(value) : value,
  )
  return createHash('sha256').update(text).digest('base64url')
}

function inOrder(members: object): object {
  return Object.fromEntries(Object.entries(members).sort(([left], [right]) => (left < right ? -1 : 1)))
}
