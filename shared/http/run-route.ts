import { createHash } from 'node:crypto'
import { type IdempotencyDependencies, runOnce, singleAttempt } from '../domain/idempotency/run-once.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { RouteResult } from './envelope.ts'
import type { HttpRequest } from './request.ts'
import { isCreating, type Route, type RouteInput } from './route.ts'

/** 1 to 255 printable characters of ASCII. */
const SOUND_KEY = /^[ -~]{1,255}$/

/**
 * Runs a route. One that creates does so once for each `Idempotency-Key` of a caller, and answers the same again,
 * marked `idempotency-replayed`.
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
  const keyed = { tenantId, callerId, key, fingerprint: fingerprintOf(route, input) }
  const { answer, isReplayed } = await runOnce(keyed, (creation) => route.run({ ...input, creation }), deps)
  return isReplayed ? { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } } : answer
}

function idempotencyKeyOf(request: Pick<HttpRequest, 'header'>): string | undefined {
  const key = request.header('idempotency-key')
  if (key === null || SOUND_KEY.test(key)) return key ?? undefined
  throw new Refusal('IdempotencyKeyInvalid', undefined, 'Idempotency-Key')
}

/** Of what the route is given rather than of the bytes: another order of members is the same request. */
function fingerprintOf({ operationId }: Route, { path, query, body }: Omit<RouteInput, 'creation'>): string {
  const text = JSON.stringify([operationId, path, query, body], (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? inOrder(value) : value,
  )
  return createHash('sha256').update(text).digest('base64url')
}

function inOrder(members: object): object {
  return Object.fromEntries(Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1)))
}
