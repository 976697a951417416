import { chunk } from '../../kernel/chunk.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Attribution } from '../history/member-history.ts'
import type { RequestOutcome } from './decide-request.ts'
import { isLive, type MembershipRequest } from './membership-request.ts'
import {
  type MemberNotifier,
  notifyMembershipChanges,
  type RequestChange,
  type RequestDependencies,
} from './request-dependencies.ts'

type Requests = Pick<RequestDependencies, 'requests'>

/** What transitions need: they notify of changed members. */
export type TransitionDependencies = Requests & MemberNotifier

/** Decides on one request as it is stored now. */
type Decide = (request: MembershipRequest) => RequestOutcome
type DecideChange = (before: Versioned<MembershipRequest>) => RequestChange | undefined
type Save = (changes: readonly RequestChange[]) => Promise<unknown>

/** Attempts for one request that concurrent actions change at the same time. */
const MAX_ATTEMPTS = 5

/** More requests of a collection that cannot be saved are a sign that none of it can; more collections, that none can. */
const MAX_FAILURES = 5

/** Requests read concurrently. The store combines concurrent reads into batches. */
const READS_AT_ONCE_COUNT = 200

/** Returns the current version of each request, without those that do not exist. */
export async function readRequests(
  tenantId: string,
  requestIds: readonly string[],
  { requests }: Requests,
): Promise<Versioned<MembershipRequest>[]> {
  const read: Versioned<MembershipRequest>[] = []
  for (const ids of chunk(requestIds, READS_AT_ONCE_COUNT)) {
    const found = await Promise.all(ids.map((id) => requests.find(tenantId, id)))
    read.push(...found.filter((request) => request !== undefined))
  }
  return read
}

/**
 * Decides on requests of any collections and saves those that change, as few transactions as possible. A request that a
 * concurrent action has changed is read and decided again. What fails for a few requests is thrown after the others are
 * saved. Notifies of the collections whose members change, also when a save fails: a repetition does not find what was
 * saved before. The sweep repairs what a process leaves that ends between a save and the notification.
 * @param requests Requests of one tenant.
 * @param attribution Why members are added or removed, where their requests do not tell.
 */
export async function applyTransitions(
  requests: readonly Versioned<MembershipRequest>[],
  decideOn: Decide,
  deps: TransitionDependencies,
  attribution?: Attribution,
): Promise<void> {
  const [first] = requests
  if (first === undefined) return
  const changedCollections = new Set<string>()
  const save: Save = (batch) => {
    // Before the write: one that fails may be stored.
    for (const { after } of batch.filter(isMembershipChange)) changedCollections.add(after.collectionId)
    return deps.requests.save(batch)
  }
  const decide: DecideChange = (before) => changeBy(decideOn, before, attribution)
  const changes = requests.flatMap((before) => decide(before) ?? [])
  const failures: unknown[][] = []
  for (const ofOne of Map.groupBy(changes, ({ after }) => after.collectionId).values()) {
    const ownFailures: unknown[] = []
    for (const batch of deps.requests.batches(ofOne)) {
      if (ownFailures.length < MAX_FAILURES) await saveBatch(batch, decide, save, deps, ownFailures)
    }
    if (ownFailures.length > 0) failures.push(ownFailures)
    if (failures.length >= MAX_FAILURES) break
  }
  await notifyMembershipChanges(first.value.tenantId, changedCollections, deps)
  if (failures.length > 0) throw failures[0]?.[0]
}

/** Whether the change joins or leaves a collection, or gives a membership to another identity. */
export function isMembershipChange({ before, after }: RequestChange): boolean {
  const [wasJoined, isJoined] = [before?.value.status === 'Joined', after.status === 'Joined']
  return wasJoined !== isJoined || (isJoined && before?.value.requesterId !== after.requesterId)
}

function changeBy(
  decideOn: Decide,
  before: Versioned<MembershipRequest>,
  attribution: Attribution | undefined,
): RequestChange | undefined {
  const decision = decideOn(before.value)
  if (decision.outcome !== 'next') return undefined
  return { before, after: decision.request, ...(attribution === undefined ? {} : { attribution }) }
}

/**
 * Saves the batch in one transaction; after a failure, saves each request in its own.
 * @param failures Receives why requests could not be saved.
 */
async function saveBatch(
  batch: readonly RequestChange[],
  decide: DecideChange,
  save: Save,
  deps: Requests,
  failures: unknown[],
): Promise<void> {
  try {
    await save(batch)
  } catch {
    for (const { after } of batch) {
      await retryTransition(after, decide, save, deps).catch((error: unknown) => void failures.push(error))
      if (failures.length >= MAX_FAILURES) return
    }
  }
}

async function retryTransition(
  { tenantId, id }: MembershipRequest,
  decide: DecideChange,
  save: Save,
  deps: Requests,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await deps.requests.find(tenantId, id)
    if (before === undefined || !isLive(before.value)) return
    const change = decide(before)
    if (change === undefined) return
    try {
      await save([change])
      return
    } catch (error) {
      if (!isRequestConflict(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Whether an error means that a request, or the slot that it needs, was changed by others. */
export function isRequestConflict(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'InvalidRequestState' || error.code === 'RequestAlreadyOpen')
}
