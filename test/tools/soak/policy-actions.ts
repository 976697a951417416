import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { mayHaveEnded, noteThatMayHaveEnded } from './end-model.ts'
import { moveExtension } from './extension-model.ts'
import { membershipKeys } from './gate-dependencies.ts'
import { apply, coreIdOf, expectStatus, JOINABLE_PATH, type Organisation } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { isEligible } from './policy-model.ts'
import { followPolicy, type ModelFallback, type ModelGate, type ModelPolicy, waitingGateOf } from './request-model.ts'
import { ninOf, STAFF_COUNT } from './source-items.ts'

/**
 * A quiet point waits for what is due within a day or so: a reminder of each day would be followed by the next one
 * without an end.
 */
const REMINDER_DAYS = [2, 3]

/** @param collectionId The collection of the policy, whose own members are not its approvers. */
function randomPolicy({ model }: Organisation, random: Random, collectionId?: string): ModelPolicy {
  const gateCount = pickOf(random, [0, 1, 1, 2, 2])
  const collectionIds = [...model.criteria.keys(), ...model.joinable.keys()].filter((id) => id !== collectionId)
  const approvalGates: ModelGate[] = []
  for (let order = 1; order <= gateCount; order += 1) {
    const chance = random.below(100)
    const hasManagerGate = approvalGates.some(({ type }) => type === 'Manager')
    // Whether a gate of collections has no approver is not certain while people change.
    const fallback = random.percent(30) ? { fallback: randomFallback(random, collectionIds) } : {}
    const reminder = random.percent(40) ? { reminderDays: pickOf(random, REMINDER_DAYS) } : {}
    const shared = { order, ...reminder }
    if (chance < 40 && !hasManagerGate) approvalGates.push({ ...shared, type: 'Manager', approvers: [], ...fallback })
    else if (chance < 80 && collectionIds.length > 0) {
      const approvers = new Set([pickOf(random, collectionIds), pickOf(random, collectionIds)])
      approvalGates.push({ ...shared, type: 'Collection', approvers: [...approvers] })
    } else approvalGates.push({ ...shared, type: 'Identity', approvers: randomStaff(random), ...fallback })
  }
  return {
    approvalRequired: gateCount > 0,
    approvalGates,
    joinableBy: randomJoinableBy(random, collectionIds),
    ...(random.percent(30) ? { maxDays: pickOf(random, [1, 10]) } : {}),
    ...(random.percent(30) ? { requestDays: pickOf(random, [1, 5]) } : {}),
  }
}

function randomFallback(random: Random, collectionIds: readonly string[]): ModelFallback {
  const isOfCollection = collectionIds.length > 0 && random.percent(50)
  return {
    afterDays: 365,
    type: isOfCollection ? 'Collection' : 'Identity',
    approvers: isOfCollection ? [pickOf(random, collectionIds)] : randomStaff(random),
  }
}

function randomJoinableBy(random: Random, collectionIds: readonly string[]): string[] {
  if (collectionIds.length === 0 || random.percent(50)) return []
  return [...new Set([pickOf(random, collectionIds), pickOf(random, collectionIds)])]
}

function randomStaff(random: Random): string[] {
  const staff = Array.from({ length: STAFF_COUNT }, (_, person) => ninOf(person))
  return [...staff.slice(random.below(STAFF_COUNT)), ...staff].slice(0, 2)
}

/** The policy as the API takes it, with core ids. */
export async function policyBody(organisation: Organisation, policy: ModelPolicy) {
  const { approvalRequired, approvalGates, joinableBy, ...days } = policy
  const withIds = async <Named extends Pick<ModelGate, 'type' | 'approvers'>>(named: Named) => {
    if (named.type !== 'Identity') return named
    const ids = await Promise.all(named.approvers.map((nin) => coreIdOf(organisation, nin)))
    return { ...named, approvers: ids.filter((id) => id !== undefined) }
  }
  const gates = approvalGates.map(async ({ fallback, ...gate }) => ({
    ...(await withIds(gate)),
    ...(fallback === undefined ? {} : { fallback: await withIds(fallback) }),
  }))
  return {
    approvalRequired,
    approvalGates: await Promise.all(gates),
    joinableBy: { collectionIds: joinableBy },
    ...days,
  }
}

export async function createJoinableCollection(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const policy = randomPolicy(organisation, random)
    const name = organisation.unique('Joinable')
    const began = organisation.times.now()
    const { data: id } = await expectStatus<string>(
      organisation,
      {
        token: organisation.callers.writer,
        method: 'POST',
        path: JOINABLE_PATH,
        body: { objectType: 'Identity', name, joinPolicy: await policyBody(organisation, policy) },
        idempotencyKey: name,
      },
      201,
    )
    const policySet = organisation.times.since(began)
    apply(organisation, () => organisation.model.joinable.set(id, { policy, policySet, requests: [] }))
  })
}

export async function editPolicy(organisation: Organisation, random: Random): Promise<void> {
  await replacePolicy(organisation, pickOf(random, [...organisation.model.joinable.keys()]), random)
}

export async function replacePolicy(organisation: Organisation, id: string, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const collection = organisation.model.joinable.get(id)
    if (collection === undefined) return
    const policy = withCertainEffect(organisation, collection, randomPolicy(organisation, random, id))
    const body = { objectType: 'Identity', joinPolicy: await policyBody(organisation, policy) }
    const options = { token: organisation.callers.writer, method: 'PUT', path: `${JOINABLE_PATH}/${id}`, body }
    const began = organisation.times.now()
    await expectStatus(organisation, options, 200)
    collection.policySet = organisation.times.since(began)
    apply(organisation, () => {
      const former = collection.policy
      collection.policy = policy
      const members = organisation.model.members()
      for (const request of collection.requests) {
        const mayJoin = isEligible(organisation.model, policy, request.nin, members)
        const reminderDays = waitingGateOf(former, request)?.reminderDays
        followPolicy(policy, former, request, mayJoin)
        moveExtension(policy, former, request, mayJoin)
        if (waitingGateOf(policy, request)?.reminderDays !== reminderDays)
          request.reminderChanged = collection.policySet
        // The new policy can have a deadline that is past: the request ends within a minute.
        if (mayHaveEnded(request, policy, organisation.times.now())) {
          noteThatMayHaveEnded(request)
          organisation.changedNins.add(request.nin)
        }
      }
    })
    organisation.recentChanges.note(id)
  })
}

/** Without eligibility where it is not certain yet who is eligible: instances may not read the last changes. */
function withCertainEffect(
  { model, recentChanges, changedNins }: Organisation,
  { requests }: JoinableModel,
  policy: ModelPolicy,
): ModelPolicy {
  const isCertain = requests
    .filter((request) => request.status === 'PendingApproval' || request.extension !== undefined)
    .every(({ nin }) => {
      const keys = membershipKeys(model, nin, policy.joinableBy)
      return recentChanges.isSettled(keys) && !changedNins.has(nin)
    })
  return isCertain ? policy : { ...policy, joinableBy: [] }
}
