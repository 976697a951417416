import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

const ANN = 'aaaaaaaa-0000-4000-8000-000000000001'
const OWN_UNIT = 'bbbbbbbb-0000-4000-8000-000000000001'
const LED_UNIT = 'bbbbbbbb-0000-4000-8000-000000000002'
const POSITION = 'cccccccc-0000-4000-8000-000000000001'
const ref = (objectId: string) => ({ objectId })

const object = (
  objectType: SnapshotObject['objectType'],
  id: string,
  attributes: SnapshotObject['attributes'] = {},
  deleted = false,
): SnapshotObject => ({ id, objectType, externalId: id, attributes, deleted })

function withAnn(led: SnapshotObject['attributes']): RowSnapshot {
  const snapshot = new RowSnapshot()
  snapshot.apply([
    object('identity', ANN),
    object('orgUnit', OWN_UNIT),
    object('relationship', POSITION, { identity: ref(ANN), orgUnit: ref(OWN_UNIT) }),
    object('orgUnit', LED_UNIT, led),
  ])
  return snapshot
}

describe('A change of who leads a unit', () => {
  for (const [role, led] of [
    ['manager', { manager: ref(ANN) }],
    ['deputy', { deputies: [ref(ANN)] }],
  ] as const) {
    it(`names the person, the position and its unit when a ${role} comes`, () => {
      const { changed, rewritten } = withAnn({}).apply([object('orgUnit', LED_UNIT, led)])
      assert.deepEqual([...changed.identity], [ANN])
      assert.deepEqual([...changed.relationship], [POSITION])
      assert.deepEqual([...changed.orgUnit].sort(), [OWN_UNIT, LED_UNIT])
      // Their rows are as they were, so that no account in a group is looked at again.
      assert.deepEqual([...rewritten.identity, ...rewritten.relationship, ...rewritten.orgUnit], [LED_UNIT])
    })

    it(`names them when a ${role} goes with the unit`, () => {
      const { changed } = withAnn(led).apply([object('orgUnit', LED_UNIT, {}, true)])
      assert.deepEqual([...changed.relationship], [POSITION])
      assert.deepEqual([...changed.orgUnit].sort(), [OWN_UNIT, LED_UNIT])
    })
  }

  it('names the manager above the new place of a unit of which a position was written in the same change', () => {
    const moved = 'bbbbbbbb-0000-4000-8000-000000000003'
    const snapshot = withAnn({ manager: ref(ANN) })
    snapshot.apply([object('orgUnit', moved)])
    const { changed } = snapshot.apply([
      object('relationship', 'cccccccc-0000-4000-8000-000000000002', { orgUnit: ref(moved) }),
      object('orgUnit', moved, { parent: ref(LED_UNIT) }),
    ])
    assert.deepEqual([...changed.identity], [ANN])
  })
})
