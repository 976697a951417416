import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import type { JoinedMembership } from '../../../shared/domain/criteria/collection-members.ts'
import { eventsOf } from '../../../shared/domain/history/member-history.ts'
import { readResultsAsOf } from '../../../shared/domain/insight/members-as-of.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'

type AsOfDependencies = Parameters<typeof readResultsAsOf>[3]

const NOON_MS = Date.parse('2030-01-01T12:00:00Z')
const MINUTE_MS = 60_000
const membership = (identityId: string): JoinedMembership => ({ identityId, relationshipId: null })

/** The members of a collection two minutes before noon. @param events Its history since. */
async function membersOf(kind: Collection['kind'], events: readonly object[], reads: object) {
  const collection = { id: 'collection', tenantId: 'tenant', kind, objectType: 'Identity', createdAtMs: 0 }
  const deps = {
    collections: { find: async () => ({ value: collection, version: '1' }) },
    ...reads,
    history: {
      [kind]: {
        async *since() {
          yield events
        },
      },
    },
    historyDays: 400,
    timeZones: { zoneOf: async () => UTC },
    scheduler: new CooperativeScheduler(() => 0),
    nowMs: () => NOON_MS,
  } as unknown as AsOfDependencies
  const asOf = new Date(NOON_MS - 2 * MINUTE_MS).toISOString()
  return (await readResultsAsOf('tenant', 'collection', asOf, deps)).memberIds
}

describe('The members of a joinable collection at an earlier time', () => {
  it('are read again when somebody joined between the reads of the members and of their version', async () => {
    // A read of memberships can have members that are newer than the version that was read before them.
    const reads = [
      { memberships: [membership('ann'), membership('bob')], membershipVersion: 1, revision: '1' },
      { memberships: [membership('ann'), membership('bob')], membershipVersion: 2, revision: '2' },
    ]
    const joined = {
      of: async () => new Map([['collection', reads.shift()]]),
      versions: async () => new Map([['collection', 2]]),
    }
    const version = { membershipVersion: 2, atMs: NOON_MS - MINUTE_MS }
    const events = eventsOf([{ cause: 'Request', actorId: 'bob', added: ['bob'], removed: [] }], version)
    const memberIds = await membersOf('joinable', events, { joined })
    assert.deepEqual(memberIds, [{ objectId: 'ann', relationshipId: null }])
  })
})

describe('The members of a criteria collection at an earlier time', () => {
  it('do not depend on a change that is newer than the members that were read', async () => {
    const added = (objectId: string, membershipVersion: number) =>
      eventsOf([{ cause: 'ObjectChanged', actorId: 'system', added: [objectId], removed: [] }], {
        membershipVersion,
        atMs: NOON_MS - MINUTE_MS,
      })
    const memberships = { members: async () => ({ head: { membershipVersion: 2 }, ids: ['ann', 'bob'] }) }
    assert.deepEqual(await membersOf('criteria', [...added('cy', 4), ...added('bob', 2)], { memberships }), ['ann'])
  })
})
