import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { joinedMembersOf } from '../../../shared/domain/collections/membership-store.ts'
import type { HistoryEntry } from '../../../shared/domain/insight/list-history.ts'
import { type MembershipRequest, slotOf } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { Versioned } from '../../../shared/kernel/versioned.ts'
import { COLLECTIONS, CRITERIA, type CriteriaService, criteriaTenant, leaf } from '../api/criteria-service.ts'

/** Small numbers, so that members are added and removed often. */
const INITIALS = ['A', 'B']
const PERSON_COUNT = 3
/** Half of them contain identities, the others relationships. */
const CRITERIA_COUNT = 6
const JOINABLE_COUNT = 2

const TYPES = ['Identity', 'Relationship'] as const

/** A leaf of a condition: an initial, a position that has not ended, or membership in an earlier collection. */
type Asked =
  | { readonly initial: string }
  | { readonly isCurrent: true }
  | { readonly collection: number; readonly operator: 'Equals' | 'NotEquals' }

type RandomCondition = { readonly groupOperator: 'AND' | 'OR'; readonly asked: readonly Asked[] }

export type Change =
  | { readonly do: 'name'; readonly person: number; readonly initial: string | undefined }
  | { readonly do: 'place'; readonly position: number; readonly person: number; readonly isEnding: boolean }
  | { readonly do: 'define'; readonly collection: number; readonly condition: RandomCondition }
  | { readonly do: 'delete'; readonly collection: number }
  | { readonly do: 'join'; readonly joinable: number; readonly person: number }

const asked: fc.Arbitrary<Asked> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ initial: fc.constantFrom(...INITIALS) }) },
  fc.constant({ isCurrent: true as const }),
  {
    weight: 3,
    arbitrary: fc.record({
      collection: fc.nat(CRITERIA_COUNT + JOINABLE_COUNT),
      operator: fc.constantFrom('Equals' as const, 'NotEquals' as const),
    }),
  },
)

const condition: fc.Arbitrary<RandomCondition> = fc.record({
  groupOperator: fc.constantFrom('AND' as const, 'OR' as const),
  asked: fc.array(asked, { minLength: 1, maxLength: 2 }),
})

/** The initial conditions of a tenant. */
export const conditions = fc.array(condition, { minLength: CRITERIA_COUNT, maxLength: CRITERIA_COUNT })

const person = fc.nat(PERSON_COUNT - 1)

export const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('name' as const),
      person,
      initial: fc.constantFrom(...INITIALS, undefined),
    }),
  },
  fc.record({ do: fc.constant('place' as const), position: person, person, isEnding: fc.boolean() }),
  fc.record({ do: fc.constant('define' as const), collection: fc.nat(CRITERIA_COUNT - 1), condition }),
  fc.record({ do: fc.constant('delete' as const), collection: fc.nat(CRITERIA_COUNT - 1) }),
  fc.record({ do: fc.constant('join' as const), joinable: fc.nat(JOINABLE_COUNT - 1), person }),
)

/** A tenant with people, their positions, and collections that refer to each other and to joinable ones. */
export async function randomTenant(service: CriteriaService, begin: readonly RandomCondition[]) {
  const tenant = criteriaTenant(service)
  const people = await Promise.all(Array.from({ length: PERSON_COUNT }, (_, index) => tenant.person(initialOf(index))))
  const positions = await Promise.all(people.map((holder) => tenant.position(holder, undefined)))
  const joinables = await Promise.all(TYPES.map((objectType) => joinableOf(tenant.tenantId, objectType, service)))
  const { requests } = service.process
  const memberships = new Map<string, Versioned<MembershipRequest>>()
  const collections: { id: string | undefined; definition: object }[] = []

  const definitionOf = (index: number, { groupOperator, asked }: RandomCondition) => {
    const before = [...collections.slice(0, index).map(({ id }) => id), ...joinables.map(({ id }) => id)]
    const named = before.filter((id) => id !== undefined)
    const leaves = asked.map((one) => {
      if ('initial' in one) return leaf('identityDisplayName', 'StartsWith', one.initial)
      if ('isCurrent' in one) return leaf('relationshipEndDate', 'GreaterThanOrEqual', 'Today()')
      return leaf('memberOfCollection', one.operator, named[one.collection % named.length])
    })
    return { objectType: TYPES[index % 2], condition: { groupOperator, conditions: leaves } }
  }
  const define = async (index: number, condition: RandomCondition) => {
    const definition = definitionOf(index, condition)
    const id = collections[index]?.id
    if (id === undefined) {
      collections[index] = { id: await tenant.create(definition.condition, definition), definition }
    } else {
      await tenant.send('PUT', `${CRITERIA}/${id}`, definition)
      collections[index] = { id, definition }
    }
  }
  for (const [index, one] of begin.entries()) await define(index, one)

  return {
    tenantId: tenant.tenantId,
    async apply(change: Change): Promise<void> {
      if (change.do === 'name') {
        const { initial } = change
        await tenant.put('identity', { displayName: initial ?? '' }, people[change.person], initial === undefined)
      } else if (change.do === 'place') {
        const identity = { objectId: people[change.person] ?? '' }
        const more = change.isEnding ? { endDate: new Date(service.clock.nowMs).toISOString().slice(0, 10) } : {}
        await tenant.put('relationship', { identity, ...more }, positions[change.position])
      } else if (change.do === 'define') await define(change.collection, change.condition)
      else if (change.do === 'delete') {
        const collection = collections[change.collection]
        if (collection?.id === undefined) return
        // A collection that others refer to is not deleted.
        const { status } = await tenant.send('DELETE', `${CRITERIA}/${collection.id}`)
        if (status < 300) collection.id = undefined
      } else {
        const key = `${change.joinable}:${change.person}`
        const before = memberships.get(key)
        const after = before === undefined ? joining(change.joinable, change.person) : left(before.value)
        const [saved] = await requests.save([before === undefined ? { after } : { before, after }])
        if (saved === undefined || before !== undefined) memberships.delete(key)
        else memberships.set(key, saved)
      }
    },
    /** The members of each collection, with their version. */
    async membersNow(): Promise<{ collectionId: string; membershipVersion: number; memberIds: readonly string[] }[]> {
      const { memberships, joined } = service.process
      const criteria = collections.map(async ({ id }) => {
        const found = id === undefined ? undefined : await memberships.members(tenant.tenantId, id)
        if (id === undefined || found === undefined) return []
        return [{ collectionId: id, membershipVersion: found.head.membershipVersion, memberIds: found.ids }]
      })
      const joinable = joinables.map(async ({ id }) => {
        const found = await joinedMembersOf(tenant.tenantId, id, joined)
        const memberIds = found.memberships.map(({ identityId }) => identityId)
        return [{ collectionId: id, membershipVersion: found.membershipVersion, memberIds }]
      })
      return (await Promise.all([...criteria, ...joinable])).flat()
    },
    /** The whole history of a collection, the oldest entry first. */
    async history(collectionId: string): Promise<HistoryEntry[]> {
      return (await tenant.send('GET', `${COLLECTIONS}/${collectionId}/history`)).body.data.toReversed()
    },
    async membersAsOf(collectionId: string, atMs: number): Promise<string[]> {
      const at = new Date(atMs).toISOString()
      const { memberIds } = (await tenant.send('GET', `${COLLECTIONS}/${collectionId}/results?asOf=${at}`)).body.data
      return memberIds.map((member: string | { objectId: string }) =>
        typeof member === 'string' ? member : member.objectId,
      )
    },
    /** For each collection, by index, the differences between its members and a preview's. */
    async differences(): Promise<unknown[]> {
      const compared = collections.map(async ({ id, definition }, index) => {
        if (id === undefined) return []
        const { body } = await tenant.send('POST', `${CRITERIA}/preview`, { currentId: id, preview: definition })
        const { added, removed, counts } = body.data
        const { evaluatedAt, memberIds } = await tenant.results(id)
        const isSame = added.length + removed.length === 0 && memberIds.length === counts.preview
        return isSame && evaluatedAt !== null ? [] : [{ index, added, removed, evaluatedAt }]
      })
      return (await Promise.all(compared)).flat()
    },
  }

  function joining(joinable: number, index: number): MembershipRequest {
    const collection = joinables[joinable] as Collection
    const requesterId = people[index] ?? ''
    const relationshipId = collection.objectType === 'Relationship' ? (positions[index] ?? null) : null
    const at = new Date(service.clock.nowMs).toISOString()
    return {
      id: randomUUID(),
      tenantId: tenant.tenantId,
      slot: slotOf(collection, requesterId, relationshipId),
      collectionId: collection.id,
      requesterId,
      submittedBy: requesterId,
      relationshipId,
      status: 'Joined',
      currentGate: null,
      notes: null,
      createdAt: at,
      updatedAt: at,
      lifecycle: [],
    }
  }
}

function initialOf(index: number): string {
  return INITIALS[index % INITIALS.length] ?? ''
}

function left(request: MembershipRequest): MembershipRequest {
  return { ...request, status: 'Left' }
}

async function joinableOf(
  tenantId: string,
  objectType: Collection['objectType'],
  { process, clock }: CriteriaService,
): Promise<Collection> {
  const collection: Collection = {
    id: randomUUID(),
    tenantId,
    kind: 'joinable',
    objectType,
    name: 'A choir',
    description: null,
    definition: { approvalRequired: false },
    definitionVersion: 1,
    definedBy: 'nobody',
    metadata: { tags: [], attributes: {} },
    refersTo: [],
    createdBy: 'nobody',
    createdAtMs: clock.nowMs,
    updatedAtMs: clock.nowMs,
  }
  await process.collections.add(collection, undefined)
  return collection
}

/**
 * The members after each version of a history.
 * @throws Error when a member is added that is one, or removed that is none, or has two causes in one version.
 */
export function replayed(entries: readonly HistoryEntry[]): ReadonlyMap<number, ReadonlySet<string>> {
  const members = new Set<string>()
  const byVersion = new Map<number, ReadonlySet<string>>([[0, new Set()]])
  const seen = new Set<string>()
  for (const { objectId, change, membershipVersion, cause } of entries) {
    const place = `${membershipVersion} ${objectId}`
    if (seen.has(place) || members.has(objectId) === (change === 'Added')) {
      throw new Error(`Version ${membershipVersion}: ${objectId} is ${change} by ${cause}, against the entries before`)
    }
    seen.add(place)
    if (change === 'Added') members.add(objectId)
    else members.delete(objectId)
    byVersion.set(membershipVersion, new Set(members))
  }
  return byVersion
}
