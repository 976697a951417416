import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import {
  FIRST_SET_ID,
  readTrackedChanges,
  type TrackedGroups,
  type TrackedGroupsStore,
} from '../../../shared/domain/sync/tracked-groups.ts'

const NOW_MS = Date.parse('2030-01-10T08:00:00Z')
const DAY_MS = 24 * 3_600_000

/** Reads this number of pages of changes of a group that was tracked before. @returns What is known, and what is saved. */
async function readPages(pageCount: number, savedAtMs: number) {
  const groups = [{ groupId: 'g', changedAtMs: 1, seenAdditions: [] }]
  const stored: TrackedGroups = { id: FIRST_SET_ID, groups, continueAfter: '0', isTracking: true, savedAtMs }
  const saved: TrackedGroups[] = []
  const trackedGroups: TrackedGroupsStore = {
    ofTenant: async () => [{ value: stored, version: '1' }],
    save: async (_tenantId, tracked) => void saved.push(tracked),
    remove: async () => undefined,
  }
  const readMemberChanges: Directory['readMemberChanges'] = async (_tenantId, from) => {
    const page = Number('continueAfter' in from ? from.continueAfter : 0) + 1
    return { changes: [], continueAfter: String(page), isLast: page === pageCount }
  }
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const deps = { trackedGroups, directory: { readMemberChanges } as Directory, log, nowMs: () => NOW_MS }
  const known = await readTrackedChanges('t', new Set(['g']), async () => undefined, { ...deps, newId: () => 'id' })
  return { known: [...known.keys()], saved: saved.map(({ continueAfter }) => continueAfter) }
}

describe('The changes of tracked groups', () => {
  it('are not known while there are pages that were not read, from which the next read goes on', async () => {
    assert.deepEqual(await readPages(51, NOW_MS), { known: [], saved: ['50'] })
    assert.deepEqual(await readPages(50, NOW_MS), { known: ['g'], saved: [] })
  })

  it('have their position saved after a day without any: the directory keeps it for seven', async () => {
    assert.deepEqual(await readPages(1, NOW_MS - DAY_MS + 1), { known: ['g'], saved: [] })
    assert.deepEqual(await readPages(1, NOW_MS - DAY_MS), { known: ['g'], saved: ['1'] })
  })
})
