import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { eventsOf, OldestEvents } from '../../../shared/domain/history/member-history.ts'

const AT_MS = Date.parse('2030-01-01T00:00:00Z')
const BY_SYSTEM = { cause: 'Direct', actorId: 'system' } as const

describe('The oldest event of each membership', () => {
  it('is the first of its version, also where one version removes and adds a member, in any order', () => {
    const events = [
      ...eventsOf([{ ...BY_SYSTEM, added: ['ann', 'bob'], removed: ['ann'] }], { membershipVersion: 2, atMs: AT_MS }),
      ...eventsOf(
        [
          { ...BY_SYSTEM, added: ['cleo'], removed: ['bob'] },
          { ...BY_SYSTEM, added: [], removed: ['cleo'] },
        ],
        { membershipVersion: 3, atMs: AT_MS },
      ),
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (shuffled) => {
        const oldest = new OldestEvents(({ objectId }) => objectId)
        for (const event of shuffled) oldest.add(event)
        const found = [...oldest.byKey].map(([key, { change, membershipVersion }]) => [key, change, membershipVersion])
        assert.deepEqual(found.sort(), [
          ['ann', 'Removed', 2],
          ['bob', 'Added', 2],
          ['cleo', 'Added', 3],
        ])
      }),
    )
  })
})
