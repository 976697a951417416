import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changesBehind } from '../../../shared/domain/group-links/referenced-acts.ts'

const MINUTE_MS = 60_000
const REMOVED_AT_MS = Date.parse('2030-01-01T12:00:00Z')

/** Which of these changes of an object, newest first, can be behind its removal at each of these times. */
function behind(changedAtMs: readonly number[], removedAtMs: readonly number[] = [REMOVED_AT_MS]): boolean[] {
  const isBehind = changesBehind(new Map([['ada', new Set(removedAtMs)]]))
  return changedAtMs.map((atMs) => isBehind({ objectId: 'ada', atMs }))
}

describe('The change of a referenced collection behind a removal', () => {
  it('is the last one before it, or at the same time', () => {
    assert.deepEqual(behind([REMOVED_AT_MS - 1, REMOVED_AT_MS - 2]), [true, false])
    assert.deepEqual(behind([REMOVED_AT_MS, REMOVED_AT_MS - 1]), [true, false])
  })

  it('can be one that the clock of another instance has dated up to five minutes after it', () => {
    const late = REMOVED_AT_MS + 5 * MINUTE_MS
    assert.deepEqual(behind([late + 1, late, REMOVED_AT_MS + 1, REMOVED_AT_MS]), [false, true, true, true])
  })

  it('is at most an hour older', () => {
    assert.deepEqual(behind([REMOVED_AT_MS - 60 * MINUTE_MS]), [true])
    assert.deepEqual(behind([REMOVED_AT_MS - 60 * MINUTE_MS - 1, REMOVED_AT_MS - 60 * MINUTE_MS - 1]), [false, false])
  })

  it('is found for each removal of an object', () => {
    const earlierMs = REMOVED_AT_MS - 30 * MINUTE_MS
    const changes = [REMOVED_AT_MS - 1, REMOVED_AT_MS - 2, earlierMs - 1, earlierMs - 2]
    assert.deepEqual(behind(changes, [REMOVED_AT_MS, earlierMs]), [true, false, true, false])
  })

  it('is no change of another object', () => {
    assert.equal(
      changesBehind(new Map([['ada', new Set([REMOVED_AT_MS])]]))({ objectId: 'bo', atMs: REMOVED_AT_MS }),
      false,
    )
  })
})
