import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type OrphanDependencies, OrphanedMembers } from '../../../shared/domain/evaluation/orphaned-members.ts'

describe('The members of a collection that was deleted an hour ago', () => {
  it('are removed before it is forgotten that they must be: a failure is made up for by the next look', async () => {
    const calls: string[] = []
    let isAway = true
    const deps = {
      collections: {
        removals: async () => [{ collectionId: 'choir', removedAtMs: Date.parse('2030-01-01T07:00:00Z') }],
        deleteRemovalRecord: async () => void calls.push('forgotten'),
      },
      memberships: {
        remove: async () => {
          if (isAway) throw new Error('The database is away')
          calls.push('removed')
        },
      },
      nowMs: () => Date.parse('2030-01-01T08:00:01Z'),
    } as unknown as OrphanDependencies
    const orphans = new OrphanedMembers(deps)
    await assert.rejects(orphans.remove('t'), /away/)
    assert.deepEqual(calls, [])
    isAway = false
    await orphans.remove('t')
    assert.deepEqual(calls, ['removed', 'forgotten'])
  })
})

it('The members of a deleted collection are kept for an hour, during which evaluations may write them again', async () => {
  const removed: string[] = []
  let now = '2030-01-01T08:00:00Z'
  const deps = {
    collections: {
      removals: async () => [{ collectionId: 'choir', removedAtMs: Date.parse('2030-01-01T07:30:00Z') }],
      deleteRemovalRecord: async () => undefined,
    },
    memberships: { remove: async (_tenantId: string, collectionId: string) => void removed.push(collectionId) },
    nowMs: () => Date.parse(now),
  } as unknown as OrphanDependencies
  const orphans = new OrphanedMembers(deps)
  await orphans.remove('t')
  assert.deepEqual(removed, [])
  now = '2030-01-01T08:30:01Z'
  await orphans.remove('t')
  assert.deepEqual(removed, ['choir'])
})
