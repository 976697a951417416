import type { Log } from '../../kernel/log.ts'
import { Refusal } from '../../kernel/refusals.ts'
import {
  decideOnRecord,
  type IdempotencyRecord,
  type IdempotencyStore,
  type IdempotentRequest,
  inProgressRecord,
  retryableRecord,
} from './idempotency-record.ts'

export type IdempotencyDependencies = {
  readonly keys: IdempotencyStore
  readonly log: Log
  /** An id derived from texts: equal for equal lists of texts. */
  deriveId(...parts: string[]): string
  newId(): string
  nowMs(): number
  sleep(delayMs: number): Promise<void>
}

/** A result that JSON can represent. */
export type StoredResult = {
  readonly data: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly warnings?: readonly object[]
}

/** Milliseconds between reads of a record in progress. Most attempts complete within a second. */
const WAITS_MS = [25, 50, 100, 200, 400, 800]

/** The first request is slow: it has not completed within the waits. */
const RETRY_AFTER_S = 1

/** Characters. A longer result is not stored: a repeated request reads what was created. */
const RESULT_LIMIT_COUNT = 500_000

/**
 * Runs `work` at most once per idempotency key, and returns its result or the stored one. The record is saved as in
 * progress before the work, and with the result after it. A refusal deletes the record, because nothing was created.
 * After a fault, or when the process ends during the work, the same request may run again, with the ids of the first
 * attempt.
 * @throws Refusal `IdempotencyKeyReused`, `IdempotencyKeyInUse`, and what `work` throws.
 */
export async function runOnce<Result extends StoredResult>(
  request: IdempotentRequest,
  work: (creation: Creation) => Promise<Result>,
  deps: IdempotencyDependencies,
): Promise<{ result: StoredResult; isReplayed: boolean }> {
  for (let waitCount = 0; ; waitCount += 1) {
    const state = await saveInProgress(request, deps)
    if (state.outcome === 'completed') return { result: JSON.parse(state.result) as StoredResult, isReplayed: true }
    const result = state.outcome === 'started' ? await runAttempt(state.attempt, work, deps) : undefined
    if (result !== undefined) return { result, isReplayed: false }
    const waitMs = WAITS_MS[waitCount]
    if (waitMs === undefined) throw Refusal.retryAfter('IdempotencyKeyInUse', RETRY_AFTER_S)
    await deps.sleep(waitMs)
  }
}

type Attempt = { readonly record: IdempotencyRecord; readonly version: string; readonly isRetry: boolean }

type RequestState =
  | { readonly outcome: 'completed'; readonly result: string }
  | { readonly outcome: 'started'; readonly attempt: Attempt }
  | { readonly outcome: 'in-progress' }

/** Starts an attempt unless the request has completed, or another attempt is in progress or starts at the same time. */
async function saveInProgress(
  request: IdempotentRequest,
  { keys, newId, nowMs }: IdempotencyDependencies,
): Promise<RequestState> {
  const known = await keys.find(request)
  const decision = decideOnRecord(known?.value, request, nowMs())
  if (decision.outcome === 'reused') throw new Refusal('IdempotencyKeyReused')
  if (decision.outcome === 'completed') return decision
  if (decision.outcome === 'in-progress') return { outcome: 'in-progress' }
  const record = inProgressRecord(request, known?.value.seed ?? newId(), nowMs())
  const version = await (known === undefined ? keys.add(record) : keys.replace(record, known.version))
  if (version === undefined) return { outcome: 'in-progress' }
  return { outcome: 'started', attempt: { record, version, isRetry: known !== undefined } }
}

/** Undefined when the work failed after another attempt had started: the result of that attempt counts. */
async function runAttempt<Result extends StoredResult>(
  attempt: Attempt,
  work: (creation: Creation) => Promise<Result>,
  deps: IdempotencyDependencies,
): Promise<Result | undefined> {
  try {
    const result = await work(creationOf(attempt, deps))
    await saveSuccess(attempt, result, deps)
    return result
  } catch (error) {
    if (await deleteRecord(attempt, error, deps)) throw error
    deps.log.warn('idempotency.superseded', { tenantId: attempt.record.tenantId, reason: (error as Error).message })
    return undefined
  }
}

function creationOf({ record, isRetry }: Attempt, { deriveId }: Pick<IdempotencyDependencies, 'deriveId'>): Creation {
  let idCount = 0
  const newId = () => {
    idCount += 1
    return deriveId(record.seed, String(idCount))
  }
  return { newId, isRetry }
}

/** A failure is logged only: the work is done, and a repeated request finds what was created. */
async function saveSuccess(
  { record, version }: Attempt,
  { data, headers, warnings }: StoredResult,
  deps: Pick<IdempotencyDependencies, 'keys' | 'log'>,
): Promise<void> {
  const result = JSON.stringify({ data, headers, warnings })
  const saved = result.length > RESULT_LIMIT_COUNT ? retryableRecord(record) : { ...record, result }
  await deps.keys.replace(saved, version).catch((error: unknown) => {
    deps.log.error('idempotency.save-failed', error, { tenantId: record.tenantId })
  })
}

/**
 * Deletes the record after a refusal, and makes it retryable after a fault.
 * @returns False when another attempt has started meanwhile.
 */
async function deleteRecord(
  { record, version, isRetry }: Attempt,
  error: unknown,
  deps: Pick<IdempotencyDependencies, 'keys' | 'log'>,
): Promise<boolean> {
  try {
    // A refused retry does not tell what the first attempt did or is still doing, so the ids must be kept.
    if (error instanceof Refusal && !isRetry) return await deps.keys.remove(record, version)
    return (await deps.keys.replace(retryableRecord(record), version)) !== undefined
  } catch (failure) {
    // The error of the work is more useful to the caller. The record becomes retryable when its time is over.
    deps.log.error('idempotency.delete-failed', failure, { tenantId: record.tenantId })
    return true
  }
}

/** What a use case needs to create the same records in every attempt of a request. */
export type Creation = {
  /** Ids for new records: the same ids, in the same order, in every attempt. */
  newId(): string
  /** An earlier attempt may have created records with these ids. */
  readonly isRetry: boolean
}

/** A creation without an idempotency key: its ids are new. */
export function singleAttempt(deps: { newId(): string }): Creation {
  return { newId: () => deps.newId(), isRetry: false }
}

/** What an earlier attempt created; undefined in the first attempt, without calling `find`. */
export async function findFromEarlierAttempt<T>(
  creation: Creation,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return creation.isRetry ? find() : undefined
}
