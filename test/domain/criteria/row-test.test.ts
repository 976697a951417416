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

const of = (identity: string, orgUnit: string) => ({ identity: { objectId: identity }, orgUnit: { objectId: orgUnit } })

/** Kari, the north and her relationship have the same slot, each in its own table. */
const SNAPSHOT = new RowSnapshot()
SNAPSHOT.apply([
  object('identity', 'ola', { displayName: 'Ola' }),
  object('identity', 'kari', { displayName: 'Kari' }),
  object('orgUnit', 'south', { displayName: 'South' }),
  object('orgUnit', 'north', { displayName: 'North' }),
  object('relationship', 'other', { title: 'Clerk', ...of('ola', 'south') }),
  object('relationship', 'kari-1', { title: 'Nurse', startDate: '2023-01-01', ...of('kari', 'north') }),
])
const slotOf = (objectType: SnapshotObject['objectType'], id: string) => SNAPSHOT.tables[objectType].ids.codeOf(id)
const [KARI_ROW] = SNAPSHOT.rowsOf('relationship', 'kari-1') as [Row]

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const startsBy = (operator: string) =>
  leaf('relationshipStartDate', operator, { attribute: 'relationshipStartDate' }, 'Today()')
const isMember = (id: string) => leaf('memberOfCollection', 'Equals', id)
const group = (groupOperator: string, ...conditions: unknown[]) => ({ groupOperator, conditions })

/** The node of a condition. */
function bound(node: unknown, snapshot = SNAPSHOT): BoundNode {
  const check = checkCondition(group('AND', node), SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  const root = compileAsWritten(check.condition).boundTo(snapshot)
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

  it('reads no identity on the row of an org unit alone', () => {
    const test = new RowTest(SNAPSHOT, CONTEXT)
    test.moveTo('orgUnit', slotOf('orgUnit', 'south'))
    for (const name of ['Ola', 'Kari'])
      assert.equal(test.holds(bound(leaf('identityDisplayName', 'Equals', name))), false)
    assert.deepEqual(test.rowsOfIdentity(), [])
  })

  it('reads nothing before it moves to a row', () => {
    const everyone = [leaf('identityDisplayName', 'IsNull'), leaf('orgUnitDisplayName', 'IsNull')]
    for (const node of [...everyone, leaf('relationshipTitle', 'IsNull')])
      assert.equal(new RowTest(SNAPSHOT, CONTEXT).holds(bound(node)), true)
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
    ['compares Today() with a day of the row', startsBy('GreaterThan'), true],
    ['compares Today() with a day of the row that is not reached', startsBy('LessThan'), false],
    [
      'compares two days of the row',
      leaf('relationshipEndDate', 'GreaterThan', { attribute: 'relationshipStartDate' }),
      false,
    ],
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

describe('The test of any position of a person', () => {
  /** Kari has a position in each unit, Ola one in the south; Per has none. */
  const ROWS = new RowSnapshot()
  ROWS.apply([
    ...['ola', 'kari', 'per'].map((id) => object('identity', id, { displayName: id })),
    ...['south', 'north'].map((id) => object('orgUnit', id, { displayName: id })),
    object('relationship', 'ola-1', { title: 'Clerk', ...of('ola', 'south') }),
    object('relationship', 'kari-1', { title: 'Nurse', ...of('kari', 'north') }),
    object('relationship', 'kari-2', { title: 'Clerk', ...of('kari', 'south') }),
  ])
  const anyPosition = (...conditions: unknown[]) => bound({ ...group('AND', ...conditions), over: 'AnyPosition' }, ROWS)
  const inNorth = anyPosition(isMember(OF_NORTH))
  const titleOf = (title: string) => bound(leaf('relationshipTitle', 'Equals', title), ROWS)
  const rowOf = (id: string) => ROWS.rowsOf(id.includes('-') ? 'relationship' : 'identity', id)[0] as Row

  /** Whether the node holds on the row, at once and in steps; and that both leave the test on the row. */
  function onBoth(node: BoundNode, id: string, title: string) {
    return [CONTEXT, steppedContext().context].map((context) => {
      const test = new RowTest(ROWS, context)
      test.moveToRow(rowOf(id))
      const { result } = inSteps(test.holdsTask(node))
      assert.equal(test.holds(titleOf(title)), id.includes('-'))
      return result
    })
  }

  it('holds on each row of a person with one that satisfies it, and stays on the row', () => {
    assert.deepEqual(onBoth(inNorth, 'kari-1', 'Nurse'), [true, true])
    assert.deepEqual(onBoth(inNorth, 'kari-2', 'Clerk'), [true, true])
    assert.deepEqual(onBoth(inNorth, 'ola-1', 'Clerk'), [false, false])
  })

  it('reads the row of a person without a position', () => {
    const [identity] = rowOf('per')
    const test = new RowTest(ROWS, CONTEXT)
    test.moveToRow([identity, 0, 0])
    assert.deepEqual(test.rowsOfIdentity(), [[identity, 0, 0]])
    const untitled = anyPosition(leaf('relationshipTitle', 'IsNull'), leaf('memberOfCollection', 'NotEquals', OF_NORTH))
    assert.deepEqual(onBoth(untitled, 'per', 'Clerk'), [true, true])
    assert.deepEqual(onBoth(untitled, 'ola-1', 'Clerk'), [false, false])
  })

  it('asks once for each person until one position satisfies it', () => {
    const { asked, context } = steppedContext()
    const test = new RowTest(ROWS, context)
    const stepsOn = (id: string) => {
      test.moveToRow(rowOf(id))
      return inSteps(test.holdsTask(inNorth))
    }
    const first = stepsOn('kari-2')
    assert.ok(first.result && first.stepCount >= 1)
    assert.equal(asked.length, first.stepCount)
    assert.deepEqual(stepsOn('kari-1'), { result: true, stepCount: 0 })
    assert.deepEqual(stepsOn('ola-1'), { result: false, stepCount: 1 })
    assert.deepEqual(stepsOn('ola-1'), { result: false, stepCount: 0 })
    assert.deepEqual(stepsOn('kari-2'), { result: true, stepCount: 0 })
  })
})
