import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import type { CollectionMembers, Row } from '../../../shared/domain/criteria/collection-members.ts'
import { type BoundMembership, type BoundNode, compileAsWritten } from '../../../shared/domain/criteria/compile.ts'
import type { EvaluationContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import { groupHolds, isRowOfTask, RowTest, readsMembers } from '../../../shared/domain/criteria/row-test.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import type { Task } from '../../../shared/kernel/cooperative-scheduler.ts'
import { COLLECTIONS, TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
/** Kari is in the first, the north in the second, nothing in the third; the fourth does not exist. */
const [OF_KARI, OF_NORTH, EMPTY, ABSENT] = COLLECTIONS as [string, string, string, string]
const MEMBERS: Readonly<Record<string, CollectionMembers>> = {
  [OF_KARI]: { kind: 'criteria', objectType: 'Identity', ids: new Set(['kari']) },
  [OF_NORTH]: { kind: 'criteria', objectType: 'OrgUnit', ids: new Set(['north']) },
  [EMPTY]: { kind: 'criteria', objectType: 'Identity', ids: new Set() },
}
const object = (
  objectType: SnapshotObject['objectType'],
  id: string,
  attributes: SnapshotObject['attributes'],
): SnapshotObject => ({ id, objectType, externalId: id, attributes, deleted: false })

/** Kari, the north and her relationship have the same slot, each in its own table. */
const SNAPSHOT = new RowSnapshot()
SNAPSHOT.apply([
  object('identity', 'ola', { displayName: 'Ola' }),
  object('identity', 'kari', { displayName: 'Kari' }),
  object('orgUnit', 'south', { displayName: 'South' }),
  object('orgUnit', 'north', { displayName: 'North' }),
  object('relationship', 'other', { title: 'Clerk', identity: { objectId: 'ola' }, orgUnit: { objectId: 'south' } }),
  object('relationship', 'kari-1', { title: 'Nurse', identity: { objectId: 'kari' }, orgUnit: { objectId: 'north' } }),
])
const slotOf = (objectType: SnapshotObject['objectType'], id: string) => SNAPSHOT.tables[objectType].ids.codeOf(id)
const [KARI_ROW] = SNAPSHOT.rowsOf('relationship', 'kari-1') as [Row]

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const isMember = (id: string) => leaf('memberOfCollection', 'Equals', id)
const group = (groupOperator: string, ...conditions: unknown[]) => ({ groupOperator, conditions })

/** The node of a condition. */
function bound(node: unknown): BoundNode {
  const check = checkCondition(group('AND', node), SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  const root = compileAsWritten(check.condition).boundTo(SNAPSHOT)
  assert.ok(root.kind === 'group')
  return root.children[0] as BoundNode
}

const CONTEXT: EvaluationContext = { todayMs: TODAY_MS, membersOf: (id) => MEMBERS[id] }

/** A context that finds members in steps, and the collections that it was asked for. */
function steppedContext(isAsked = true) {
  const asked: string[] = []
  const asksFor = (collectionId: string): boolean => {
    asked.push(collectionId)
    return isAsked
  }
  return { asked, context: { ...CONTEXT, asksFor } }
}

function inSteps<T>(task: Task<T>): { readonly result: T; readonly stepCount: number } {
  for (let stepCount = 0; ; stepCount += 1) {
    const step = task.next()
    if (step.done === true) return { result: step.value, stepCount }
  }
}

describe('A group', () => {
  const [YES, NO] = [true, false]
  for (const [operator, children, expected, testedCount] of [
    ['AND', [], true, 0],
    ['AND', [YES, YES], true, 2],
    ['AND', [YES, NO, YES], false, 2],
    ['OR', [], false, 0],
    ['OR', [NO, YES, NO], true, 2],
    ['OR', [NO, NO], false, 2],
    ['NOT', [], true, 0],
    ['NOT', [NO, NO], true, 2],
    ['NOT', [NO, YES, NO], false, 2],
    ['XOR', [], false, 0],
    ['XOR', [NO, YES, NO], true, 3],
    ['XOR', [YES, YES, NO], false, 3],
    ['XOR', [NO, NO], false, 2],
  ] as const) {
    it(`${operator} of ${JSON.stringify(children)} is ${expected} after ${testedCount} tests`, () => {
      let count = 0
      const holds = (child: boolean): boolean => {
        count += 1
        return child
      }
      assert.deepEqual([groupHolds<boolean>(operator, children, holds), count], [expected, testedCount])
    })

    if (children.length === 0) continue
    it(`${operator} of memberships ${JSON.stringify(children)} is ${expected} after asking for ${testedCount}`, () => {
      const { asked, context } = steppedContext()
      const test = new RowTest(SNAPSHOT, context)
      test.moveToRow(KARI_ROW)
      const node = bound(group(operator, ...children.map((child) => isMember(child ? OF_KARI : EMPTY))))
      const { result, stepCount } = inSteps(test.holdsTask(node))
      const expectedIds = children.slice(0, testedCount).map((child) => (child ? OF_KARI : EMPTY))
      assert.deepEqual([result, stepCount, asked], [expected, testedCount, expectedIds])
      assert.equal(test.holds(node), expected)
    })
  }

  it('reads members where a node within it does', () => {
    const ofName = leaf('identityDisplayName', 'Equals', 'Kari')
    for (const [node, expected] of [
      [ofName, false],
      [isMember(EMPTY), true],
      [leaf('relationshipStartDate', 'Equals', 'Today()', 'Today()'), false],
      [group('OR', ofName), false],
      [group('OR', ofName, group('NOT', isMember(EMPTY))), true],
    ] as const) {
      assert.equal(readsMembers(bound(node)), expected)
      assert.equal(new RowTest(SNAPSHOT, CONTEXT).needsSteps(bound(node)), false)
      assert.equal(new RowTest(SNAPSHOT, steppedContext().context).needsSteps(bound(node)), expected)
    }
  })
})

describe('The test of a row', () => {
  const names = ['identityDisplayName', 'orgUnitDisplayName', 'relationshipTitle']
  const NODES = ['Kari', 'North', 'Nurse'].map((value, index) => bound(leaf(names[index] as string, 'Equals', value)))
  const onRow = (move: (test: RowTest) => void) => {
    const test = new RowTest(SNAPSHOT, CONTEXT)
    move(test)
    return NODES.map((node) => test.holds(node))
  }

  it('reads a relationship together with its identity and org unit, other objects alone', () => {
    const at = (objectType: SnapshotObject['objectType'], id: string) =>
      onRow((test) => test.moveTo(objectType, slotOf(objectType, id)))
    assert.deepEqual(at('relationship', 'kari-1'), [true, true, true])
    assert.deepEqual(at('relationship', 'other'), [false, false, false])
    assert.deepEqual(at('identity', 'kari'), [true, false, false])
    assert.deepEqual(at('orgUnit', 'north'), [false, true, false])
  })

  it('reads the three objects of the row to which it moves', () => {
    const [identity, orgUnit, relationship] = KARI_ROW
    assert.deepEqual(
      onRow((test) => test.moveToRow([identity, 0, relationship])),
      [true, false, true],
    )
    assert.deepEqual(
      onRow((test) => test.moveToRow([0, orgUnit, 0])),
      [false, true, false],
    )
  })

  for (const [claim, node, expected] of [
    ['turns a negative leaf round', leaf('identityDisplayName', 'NotEquals', 'Kari'), false],
    ['holds a negative leaf with another value', leaf('identityDisplayName', 'NotEquals', 'Ola'), true],
    ['compares Today()', leaf('relationshipStartDate', 'Equals', 'Today()', 'Today()'), true],
    ['compares Today() with another day', leaf('relationshipStartDate', 'NotEquals', 'Today()', 'Today()'), false],
    ['finds the row in a collection', isMember(OF_NORTH), true],
    ['finds no row in an empty collection', isMember(EMPTY), false],
    ['finds no row in a collection that does not exist', isMember(ABSENT), false],
    ['turns a negative membership round', leaf('memberOfCollection', 'NotEquals', OF_KARI), false],
    ['holds a negative membership without a member', leaf('memberOfCollection', 'NotEquals', ABSENT), true],
    ['finds the row in one of several collections', leaf('memberOfCollection', 'In', [EMPTY, OF_KARI]), true],
    ['finds the row in none of several collections', leaf('memberOfCollection', 'In', [EMPTY, ABSENT]), false],
  ] as const) {
    it(claim, () => {
      for (const context of [CONTEXT, steppedContext().context]) {
        const test = new RowTest(SNAPSHOT, context)
        test.moveToRow(KARI_ROW)
        assert.deepEqual([test.holds(bound(node)), inSteps(test.holdsTask(bound(node))).result], [expected, expected])
      }
    })
  }

  it('asks for one collection after the other until the row is in one', () => {
    const { asked, context } = steppedContext()
    const test = new RowTest(SNAPSHOT, context)
    test.moveToRow(KARI_ROW)
    const node = bound(leaf('memberOfCollection', 'In', [EMPTY, OF_KARI, OF_NORTH]))
    assert.equal(inSteps(test.holdsTask(node)).stepCount, 2)
    assert.deepEqual(asked, [EMPTY, OF_KARI])
  })

  it('names the collections that the row is in, in the order of the condition', () => {
    const test = new RowTest(SNAPSHOT, steppedContext().context)
    test.moveToRow(KARI_ROW)
    const node = bound(leaf('memberOfCollection', 'In', [OF_NORTH, EMPTY, OF_KARI, ABSENT])) as BoundMembership
    assert.deepEqual(inSteps(test.collectionsOf(node)), { result: [OF_NORTH, OF_KARI], stepCount: 4 })
  })

  it('takes a step for a collection only where the context asks for one', () => {
    const stepsOf = (id: string, context: EvaluationContext) => inSteps(isRowOfTask(id, KARI_ROW, SNAPSHOT, context))
    assert.deepEqual(stepsOf(OF_KARI, CONTEXT), { result: true, stepCount: 0 })
    assert.deepEqual(stepsOf(OF_KARI, steppedContext(false).context), { result: true, stepCount: 0 })
    assert.deepEqual(stepsOf(OF_KARI, steppedContext().context), { result: true, stepCount: 1 })
    assert.deepEqual(stepsOf(ABSENT, steppedContext().context), { result: false, stepCount: 1 })
  })
})
