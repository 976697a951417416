import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { membershipKeys } from './gate-dependencies.ts'
import { apply, coreIdOf, expectStatus, JOINABLE_PATH, type Organisation } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { isEligible } from './policy-model.ts'
import { followPolicy, type ModelFallback, type ModelGate, type ModelPolicy } from './request-model.ts'
import { ninOf, STAFF_COUNT } from './source-items.ts'

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
    if (chance < 40 && !hasManagerGate) approvalGates.push({ order, type: 'Manager', approvers: [], ...fallback })
    else if (chance < 80 && collectionIds.length > 0) {
      const approvers = new Set([pickOf(random, collectionIds), pickOf(random, collectionIds)])
      approvalGates.push({ order, type: 'Collection', approvers: [...approvers] })
    } else approvalGates.push({ order, type: 'Identity', approvers: randomStaff(random), ...fallback })
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
    apply(organisation, () => organisation.model.joinable.set(id, { policy, requests: [] }))
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
    await expectStatus(organisation, options, 200)
    apply(organisation, () => {
      const former = collection.policy
      collection.policy = policy
      const members = organisation.model.members()
      for (const request of collection.requests) {
        followPolicy(policy, former, request, isEligible(organisation.model, policy, request.nin, members))
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
    .filter(({ status }) => status === 'PendingApproval')
    .every(({ nin }) => {
      const keys = membershipKeys(model, nin, policy.joinableBy)
      return recentChanges.isSettled(keys) && !changedNins.has(nin)
    })
  return isCertain ? policy : { ...policy, joinableBy: [] }
}
