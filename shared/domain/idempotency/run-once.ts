import type { Log } from '../../kernel/log.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { IdempotencyStore } from './idempotency-record.ts'
import {
  decideOnRecord,
  type IdempotencyRecord,
  type IdempotentRequest,
  inProgressRecord,
  releasedRecord,
} from './idempotency-record.ts'

export type IdempotencyDependencies = {
  readonly keys: IdempotencyStore
  readonly log: Log
  /** An id made of texts: the same for the same list of texts. */
  deriveId(...parts: string[]): string
  newId(): string
  nowMs(): number
  sleep(delayMs: number): Promise<void>
}

/** An answer that JSON can hold. */
export type StoredResult = { readonly data: unknown; readonly headers?: Readonly<Record<string, string>> }

/** Milliseconds between looks at a key that somebody else works on: creations mostly end within the second. */
const WAITS_MS = [25, 50, 100, 200, 400, 800]

/** Characters. A document of the store takes 2 MB; an answer beyond this is made anew from what was created. */
const ANSWER_LIMIT_COUNT = 500_000

/**
 * Answers a request under its key, and has `work` create at most once. The key is claimed before the work and has its
 * answer after it. A success is kept; a refusal frees the key, since it means that nothing was created. After a fault, or when the
 * service died in between, the same request may be tried again, and its creation has the ids of the first try.
 * @throws Refusal `IdempotencyKeyReused`, `IdempotencyKeyInUse`, and what `work` throws.
 */
export async function runOnce<Made extends StoredResult>(
  request: IdempotentRequest,
  work: (creation: Creation) => Promise<Made>,
  deps: IdempotencyDependencies,
): Promise<{ answer: StoredResult; isReplayed: boolean }> {
  for (let waitCount = 0; ; waitCount += 1) {
    const membershipResolver = await takeUp(request, deps)
    if (membershipResolver.outcome === 'answered') {
      return { answer: JSON.parse(membershipResolver.answer) as StoredResult, isReplayed: true }
    }
    const made =
      membershipResolver.outcome === 'claimed' ? await runClaimed(membershipResolver.claim, work, deps) : undefined
    if (made !== undefined) return { answer: made, isReplayed: false }
    const waitMs = WAITS_MS[waitCount]
    if (waitMs === undefined) throw new Refusal('IdempotencyKeyInUse')
    await deps.sleep(waitMs)
  }
}

type Claim = { readonly record: IdempotencyRecord; readonly version: string; readonly isRetry: boolean }

type Standing =
  | { readonly outcome: 'answered'; readonly answer: string }
  | { readonly outcome: 'claimed'; readonly claim: Claim }
  | { readonly outcome: 'busy' }

/** Claims the key unless it has its answer. Busy is also a key that somebody else was faster to claim. */
async function takeUp(request: IdempotentRequest, { keys, newId, nowMs }: IdempotencyDependencies): Promise<Standing> {
  const known = await keys.find(request)
  const decision = decideOnRecord(known?.value, request, nowMs())
  if (decision.outcome === 'reused') throw new Refusal('IdempotencyKeyReused')
  if (decision.outcome === 'answered') return decision
  if (decision.outcome === 'busy') return { outcome: 'busy' }
  const record = inProgressRecord(request, known?.value.seed ?? newId(), nowMs())
  const version = await (known === undefined ? keys.add(record) : keys.replace(record, known.version))
  if (version === undefined) return { outcome: 'busy' }
  return { outcome: 'claimed', claim: { record, version, isRetry: known !== undefined } }
}

/** Undefined when the work failed and another worker had taken the key over: what that one answers is the answer. */
async function runClaimed<Made extends StoredResult>(
  claim: Claim,
  work: (creation: Creation) => Promise<Made>,
  deps: IdempotencyDependencies,
): Promise<Made | undefined> {
  try {
    const made = await work(creationOf(claim, deps))
    await keepAnswer(claim, made, deps)
    return made
  } catch (error) {
    if (await giveBack(claim, error, deps)) throw error
    deps.log.warn('idempotency.overtaken', { tenantId: claim.record.tenantId, reason: (error as Error).message })
    return undefined
  }
}

function creationOf({ record, isRetry }: Claim, { deriveId }: IdempotencyDependencies): Creation {
  let madeCount = 0
  const newId = () => {
    madeCount += 1
    return deriveId(record.seed, String(madeCount))
  }
  return { newId, isRetry: isRetry }
}

/** The creation is done. Should its answer not be kept, the next try finds what was created. */
async function keepAnswer(
  { record, version }: Claim,
  { data, headers }: StoredResult,
  deps: IdempotencyDependencies,
): Promise<void> {
  const answer = JSON.stringify({ data, headers })
  const kept = answer.length > ANSWER_LIMIT_COUNT ? releasedRecord(record) : { ...record, answer }
  await deps.keys.replace(kept, version).catch((error: unknown) => {
    deps.log.error('idempotency.answer-not-kept', error, { tenantId: record.tenantId })
  })
}

/** @returns False when another worker has taken over the key meanwhile. */
async function giveBack(
  { record, version, isRetry }: Claim,
  error: unknown,
  deps: IdempotencyDependencies,
): Promise<boolean> {
  try {
    // A refused second try says nothing of what the first has done, or is still doing: its ids have to live on.
    if (error instanceof Refusal && !isRetry) return await deps.keys.remove(record, version)
    return (await deps.keys.replace(releasedRecord(record), version)) !== undefined
  } catch (failure) {
    // What the work has failed with says more, and the claim runs out by itself.
    deps.log.error('idempotency.key-not-given-back', failure, { tenantId: record.tenantId })
    return true
  }
}

/** What a creation needs to be the same creation when it is tried again. */
export type Creation = {
  /** Ids for what is made: the same ones, in the same order, in every try. */
  newId(): string
  /** An earlier try may have got anywhere: what bears these ids may be there already. */
  readonly isRetry: boolean
}

/** A creation that nobody tries again: its ids are new ones. */
export function singleAttempt(deps: { newId(): string }): Creation {
  return { newId: () => deps.newId(), isRetry: false }
}

/** What an earlier try has left behind. The first one need not look. */
export async function findFromEarlierAttempt<T>(
  creation: Creation,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return creation.isRetry ? look() : undefined
}
