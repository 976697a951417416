import { randomUUID } from 'node:crypto'
import { type Random, seededRandom } from '../../../infra/local/demo/seeded-random.ts'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { createCriteriaCollection } from '../../../shared/domain/collections/manage-criteria.ts'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { addMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import { submitRequest } from '../../../shared/domain/membership-requests/submit-request.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import type { JoinableFixture } from './joinable-fixture.ts'

const NAMES = ['Ada', 'Bo', 'Cy', 'Di']
const TITLES = ['Nurse', 'Cook', 'Guard']
const UNITS = ['Ward', 'Kitchen', 'Gate']
const PEOPLE_COUNT = 14

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })

/** A random condition, as clients send it, that may refer to these collections. */
export function randomCondition(random: Random, collectionIds: readonly string[], depth = 0): object {
  const item = (): object => {
    const kind = random.below(depth < 2 ? 7 : 6)
    if (kind < 2) return leaf('identityDisplayName', 'Equals', random.pick([...NAMES, 'Nobody']))
    if (kind === 2) return leaf('relationshipTitle', 'In', [random.pick(TITLES), random.pick(TITLES)])
    if (kind === 3) return leaf('orgUnitDisplayName', 'StartsWith', random.pick(UNITS).slice(0, 2))
    if (kind < 6 && collectionIds.length > 0) {
      return random.percent(70)
        ? leaf('memberOfCollection', random.pick(['Equals', 'NotEquals']), random.pick(collectionIds))
        : leaf('memberOfCollection', 'In', [random.pick(collectionIds), random.pick(collectionIds)])
    }
    return kind === 6
      ? randomCondition(random, collectionIds, depth + 1)
      : leaf('identityDisplayName', 'NotEquals', 'Ada')
  }
  const conditions = Array.from({ length: 1 + random.below(3) }, item)
  return { groupOperator: random.pick(['AND', 'AND', 'OR', 'OR', 'NOT', 'XOR']), conditions }
}

export const criteriaBody = (random: Random, collectionIds: readonly string[]) =>
  ({
    objectType: random.pick(['Identity', 'Relationship', 'Relationship', 'OrgUnit']) as 'Identity',
    name: `Collection ${random.below(1000)}`,
    condition: randomCondition(random, collectionIds),
  }) as const

export type RandomTenant = {
  readonly random: Random
  readonly caller: Caller
  readonly people: readonly string[]
  /** An identity that makes no requests. */
  readonly approver: string
  /** Criteria collections, each after those it may refer to. */
  readonly criteria: Collection[]
  readonly joinables: readonly string[]
  /** A joinable collection to which conditions refer. */
  readonly open: string
}

/** A tenant with random people, positions, collections that refer to each other, requests and links. */
export async function randomTenant(fixture: JoinableFixture, seed: string): Promise<RandomTenant> {
  const random = seededRandom('plans', seed)
  const { tenantId, deps } = fixture
  const caller: Caller = {
    kind: 'application',
    tenantId,
    objectId: randomUUID(),
    clientId: undefined,
    roles: new Set(),
  }
  const units = await Promise.all(UNITS.map((displayName) => fixture.put('orgUnit', { displayName })))
  const people = await Promise.all(
    Array.from({ length: PEOPLE_COUNT }, () =>
      fixture.put('identity', {
        displayName: random.pick(NAMES),
        ...(random.percent(85) ? { directoryObjectId: randomUUID() } : {}),
      }),
    ),
  )
  for (const identity of people) {
    for (let count = random.below(3); count > 0; count -= 1) {
      await fixture.put('relationship', {
        identity: { objectId: identity },
        orgUnit: { objectId: random.pick(units) },
        title: random.pick(TITLES),
      })
    }
  }
  const joinables: string[] = []
  const approver = await fixture.put('identity', { displayName: 'Approver' })
  const open = await createJoinableCollection(
    { objectType: 'Identity', name: 'Open', joinPolicy: { approvalRequired: false } },
    caller,
    deps,
  )
  const members = people.filter(() => random.percent(30))
  const actor = { id: caller.objectId, identityId: undefined }
  await addMembersDirectly(tenantId, open.id, { coreIdentityIds: members }, actor, deps)
  const criteria: Collection[] = []
  for (let count = 3 + random.below(6); count > 0; count -= 1) {
    const known = [open.id, ...criteria.map(({ id }) => id)]
    criteria.push(await createCriteriaCollection(criteriaBody(random, known), caller, deps))
  }
  for (let count = 1 + random.below(2); count > 0; count -= 1) {
    const ids = [...new Set([open.id, ...criteria.map(({ id }) => id)])].filter(() => random.percent(35))
    const policy = {
      approvalRequired: true,
      approvalGates: [{ order: 1, type: 'Identity', approvers: [approver] }],
      joinableBy: { collectionIds: ids },
    }
    const body = { objectType: 'Identity', name: 'By request', joinPolicy: policy } as const
    const { id } = await createJoinableCollection(body, caller, deps)
    joinables.push(id)
    for (const identityId of people.filter(() => random.percent(40))) {
      await submitRequest(id, {}, { tenantId, identityId }, deps).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
      })
    }
  }
  return { random, caller, people, approver, criteria, joinables, open: open.id }
}

/** A link as a sync has left it: its group has the accounts of the collection, and those whose removal is held. */
export async function randomLink(
  fixture: JoinableFixture,
  random: Random,
  collectionId: string,
  accounts: ReadonlySet<string>,
): Promise<{ readonly link: GroupLink; readonly held: ReadonlySet<string>; readonly rejected: ReadonlySet<string> }> {
  const { tenantId, deps } = fixture
  const nowMs = fixture.nowMs()
  const [id, directoryGroupId] = [randomUUID(), randomUUID()]
  const made = newLink({ id, tenantId, collectionId, directoryGroupId, directoryGroupDisplayName: null }, nowMs)
  const held = new Set(random.percent(30) ? [randomUUID(), randomUUID()] : [])
  const planId = randomUUID()
  if (held.size > 0) await deps.removalPlans.save({ tenantId, planId }, [...held].sort())
  const heldRemovals = {
    planId,
    reason: 'TooMany',
    count: held.size,
    limit: 0,
    removedInWindow: 0,
    groupSize: 9,
    createdAt: made.createdAt,
    storedAtMs: nowMs,
  } as const
  const open = [...accounts].filter(() => random.percent(10))
  const groupSize = 1 + random.below(30)
  const link: GroupLink = {
    ...made,
    state: random.percent(90) ? 'Enabled' : 'Disabled',
    hasAdded: random.percent(70),
    userCount: accounts.size + held.size,
    heldRemovals: held.size > 0 ? heldRemovals : null,
    removalWindow: {
      entries: random.percent(50) ? [{ atMs: nowMs - 1000, count: random.below(4), groupSize }] : [],
      open: open.length > 0 ? { groupSize, accounts: open } : null,
    },
  }
  await deps.linkStore.add(link)
  return { link, held, rejected: new Set<string>() }
}
