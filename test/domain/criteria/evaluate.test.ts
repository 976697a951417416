import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Attributes } from '../../../shared/domain/core/core-object.ts'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import type { CollectionMembers, RowObjectType } from '../../../shared/domain/criteria/collection-members.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { objectEvaluationTask } from '../../../shared/domain/criteria/evaluate.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { CodeSet } from '../../../shared/domain/tenant-index/rows/bitmap.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { evaluate, evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'

const SCHEMA = conditionSchema({ identity: ['custom/plate'], orgUnit: [], relationship: [] })
const TODAY_MS = Date.parse('2024-02-29T00:00:00Z')
const COLLECTION = '11111111-1111-4111-8111-111111111111'

const object = (objectType: SnapshotObject['objectType'], id: string, attributes: Attributes = {}): SnapshotObject => ({
  id,
  objectType,
  externalId: `${id}-external`,
  attributes,
  deleted: false,
})
const position = (id: string, identity: string, orgUnit: string, attributes: Attributes = {}): SnapshotObject =>
  object('relationship', id, { identity: { objectId: identity }, orgUnit: { objectId: orgUnit }, ...attributes })
const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: unknown[]) => ({ groupOperator, conditions })

function compiled(...conditions: unknown[]) {
  const check = checkCondition({ groupOperator: 'AND', conditions }, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return compile(check.condition)
}

function loaded(...objects: SnapshotObject[]): RowSnapshot {
  const snapshot = new RowSnapshot()
  snapshot.apply(objects)
  return snapshot
}

function members(
  snapshot: RowSnapshot,
  type: RowObjectType,
  condition: unknown,
  collection?: CollectionMembers,
): string[] {
  const context = { todayMs: TODAY_MS, membersOf: (id: string) => (id === COLLECTION ? collection : undefined) }
  return evaluate(compiled(condition), snapshot, type, context)
}

/** Kari is a nurse in the north and a clerk in the south; Ola has no position, and the attic has no people. */
const TENANT = loaded(
  object('identity', 'kari', { displayName: 'Kari', email: 'kari@example.org' }),
  object('identity', 'ola', { displayName: 'Ola', assignedLicenses: [] }),
  object('orgUnit', 'north', { displayName: 'North' }),
  object('orgUnit', 'south', { displayName: 'South' }),
  object('orgUnit', 'attic', { displayName: 'Attic' }),
  position('kari-1', 'kari', 'north', { title: 'Nurse', startDate: '2024-02-29' }),
  position('kari-2', 'kari', 'south', { title: 'Clerk', startDate: '2024-03-01' }),
  position('lost', 'nobody', 'nowhere', { title: 'Lost' }),
)

describe('Rows', () => {
  it('are one for each relationship, and one for whatever has none', () => {
    assert.deepEqual([TENANT.rowCount, TENANT.objectCount], [5, 8])
  })

  it('speak of one position, never of two mixed', () => {
    const isNurse = leaf('relationshipTitle', 'Equals', 'Nurse')
    assert.deepEqual(
      members(TENANT, 'Identity', group('AND', isNurse, leaf('orgUnitDisplayName', 'Equals', 'North'))),
      ['kari'],
    )
    assert.deepEqual(
      members(TENANT, 'Identity', group('AND', isNurse, leaf('orgUnitDisplayName', 'Equals', 'South'))),
      [],
    )
    assert.deepEqual(members(TENANT, 'OrgUnit', isNurse), ['north'])
  })

  it('lack what nobody holds or what is not there', () => {
    assert.deepEqual(members(TENANT, 'Identity', leaf('relationshipTitle', 'IsNull')), ['ola'])
    assert.deepEqual(members(TENANT, 'OrgUnit', leaf('identityId', 'IsNull')), ['attic'])
    assert.deepEqual(members(TENANT, 'Relationship', leaf('identityId', 'IsNull')), ['lost'])
    assert.deepEqual(members(TENANT, 'Relationship', leaf('relationshipIdentity', 'IsNull')), [])
  })
})

describe('Leaves', () => {
  for (const [claim, type, condition, expected] of [
    [
      'NotEquals holds where the attribute is missing',
      'Identity',
      leaf('identityEmail', 'NotEquals', 'x'),
      ['kari', 'ola'],
    ],
    [
      'NotContains holds where the list is missing',
      'Identity',
      leaf('assignedLicenses', 'NotContains', COLLECTION),
      ['kari', 'ola'],
    ],
    ['an empty list is not missing', 'Identity', leaf('assignedLicenses', 'IsNull'), ['kari']],
    [
      'functions nest',
      'Identity',
      leaf('identityDisplayName', 'Equals', 'AR', 'ToUpper(Substring(identityDisplayName,1,2))'),
      ['kari'],
    ],
    [
      'a date is its midnight UTC',
      'Relationship',
      leaf('relationshipStartDate', 'LessThanOrEqual', '2024-02-29T00:00:00.000Z'),
      ['kari-1'],
    ],
    ['Today() is a value', 'Relationship', leaf('relationshipStartDate', 'GreaterThan', 'Today()'), ['kari-2']],
    [
      'days are added across the leap day',
      'Relationship',
      leaf('relationshipStartDate', 'Equals', '2025-03-01', 'AddDays(relationshipStartDate,366)'),
      ['kari-1'],
    ],
    [
      'Today() as the field reads no attribute',
      'Identity',
      leaf('relationshipStartDate', 'Equals', 'Today()', 'Today()'),
      ['kari', 'ola'],
    ],
    ['an empty In holds for none', 'Identity', leaf('identityDisplayName', 'In', []), []],
    [
      'NOT holds where no child does',
      'OrgUnit',
      group('NOT', leaf('orgUnitDisplayName', 'Equals', 'North'), leaf('relationshipTitle', 'Equals', 'Clerk')),
      ['attic'],
    ],
    [
      'XOR holds where exactly one child does',
      'OrgUnit',
      group(
        'XOR',
        leaf('orgUnitDisplayName', 'Contains', 'o'),
        leaf('orgUnitDisplayName', 'Contains', 't'),
        leaf('relationshipTitle', 'Equals', 'Nurse'),
      ),
      ['attic'],
    ],
  ] as const) {
    it(claim, () => assert.deepEqual(members(TENANT, type, condition), expected))
  }

  it('are evaluated again on a new day', () => {
    const condition = compiled(leaf('relationshipStartDate', 'Equals', 'Today()'))
    const on = (day: string) => ({ todayMs: Date.parse(day), membersOf: () => undefined })
    assert.deepEqual(evaluate(condition, TENANT, 'Relationship', on('2024-02-29')), ['kari-1'])
    assert.deepEqual(evaluate(condition, TENANT, 'Relationship', on('2024-03-01')), ['kari-2'])
    assert.deepEqual(
      [...evaluateObjects(condition, TENANT, 'Relationship', ['kari-1', 'kari-2'], on('2024-02-29'))],
      [
        ['kari-1', true],
        ['kari-2', false],
      ],
    )
  })
})

describe('memberOfCollection', () => {
  const isMember = leaf('memberOfCollection', 'Equals', COLLECTION)
  const isNot = leaf('memberOfCollection', 'NotEquals', COLLECTION)

  it('looks at the object of the row that the criteria collection is of', () => {
    const collection: CollectionMembers = {
      kind: 'criteria',
      objectType: 'OrgUnit',
      ids: new Set(['north', 'attic', 'gone']),
    }
    assert.deepEqual(members(TENANT, 'Relationship', isMember, collection), ['kari-1'])
    assert.deepEqual(members(TENANT, 'OrgUnit', isMember, collection), ['attic', 'north'])
    assert.deepEqual(members(TENANT, 'Identity', isNot, collection), ['kari', 'ola'])
  })

  it('takes a membership without a position for all positions, one with a position for that one', () => {
    const joined = (relationshipId: string | null): CollectionMembers => ({
      kind: 'joinable',
      memberships: [{ identityId: 'kari', relationshipId }],
    })
    assert.deepEqual(members(TENANT, 'Relationship', isMember, joined(null)), ['kari-1', 'kari-2'])
    assert.deepEqual(members(TENANT, 'Relationship', isMember, joined('kari-2')), ['kari-2'])
    // The position of the membership is gone.
    assert.deepEqual(members(TENANT, 'Relationship', isMember, joined('lost')), ['kari-1', 'kari-2'])
    assert.deepEqual(members(TENANT, 'Identity', isNot, joined('kari-2')), ['kari', 'ola'])
  })

  it('has no members for a collection that does not exist', () => {
    assert.deepEqual(members(TENANT, 'Identity', isMember), [])
    assert.deepEqual(members(TENANT, 'Identity', isNot), ['kari', 'ola'])
  })
})

describe('A change', () => {
  it('names the objects of all rows touched, the attributes, and whether rows moved', () => {
    const snapshot = loaded(
      object('identity', 'a'),
      object('orgUnit', 'u', { displayName: 'U' }),
      position('p', 'a', 'u'),
      position('q', 'b', 'u'),
    )
    const renamed = snapshot.apply([object('orgUnit', 'u', { displayName: 'V' })])
    const ids = { identity: new Set(['a']), orgUnit: new Set(['u']), relationship: new Set(['p', 'q']) }
    assert.deepEqual(
      [renamed.changed, [...renamed.attributes], renamed.rowsMoved],
      [ids, ['orgUnitDisplayName'], false],
    )
    const arrived = snapshot.apply([object('identity', 'b')])
    const rows = { identity: new Set(['b']), orgUnit: new Set(['u']), relationship: new Set(['q']) }
    assert.deepEqual([arrived.changed, arrived.rowsMoved], [rows, true])
    const gone = snapshot.apply([{ ...position('p', 'a', 'u'), deleted: true }])
    assert.deepEqual(gone.changed, { identity: new Set(['a']), orgUnit: new Set(['u']), relationship: new Set(['p']) })
    assert.equal(snapshot.rowCount, 2)
  })

  it('only tells of the deletion of an object that was never there', () => {
    const snapshot = loaded()
    const { changed, rowsMoved } = snapshot.apply([{ ...object('identity', 'x'), deleted: true }])
    assert.deepEqual([changed.identity, rowsMoved, snapshot.objectCount], [new Set(['x']), false, 0])
  })

  it('adds and takes away custom attributes with the last object that has them', () => {
    const snapshot = loaded(object('identity', 'a', { 'custom/plate': 'X1', 'custom/b': 'y' }))
    assert.deepEqual(snapshot.customAttributes(), {
      identity: ['custom/b', 'custom/plate'],
      orgUnit: [],
      relationship: [],
    })
    snapshot.apply([object('identity', 'a', { 'custom/plate': 'X1' })])
    assert.deepEqual(snapshot.customAttributes().identity, ['custom/plate'])
  })
})

describe('The steps of an evaluation', () => {
  const context = { todayMs: TODAY_MS, membersOf: () => undefined }
  /** Two leaves that hold for no row. */
  const none = compiled(
    group('AND', leaf('relationshipTitle', 'IsNull'), leaf('orgUnitDisplayName', 'Equals', 'Nowhere')),
    leaf('identityEmail', 'NotEquals', 'x'),
  )
  function stepCount(task: Iterator<undefined, unknown>): number {
    let count = 0
    while (task.next().done !== true) count += 1
    return count
  }

  it('test 1,024 leaves each, however many positions an object has', () => {
    const positions = Array.from({ length: 1_000 }, (_, index) =>
      position(`p${index}`, 'kari', 'u', { title: 'Nurse' }),
    )
    const snapshot = loaded(object('identity', 'kari'), ...positions)
    const steps = objectEvaluationTask(none, snapshot, 'Identity', ['kari'], context)
    // Three leaves for the object, and for each of its positions.
    assert.equal(stepCount(steps), 2)
  })

  it('test 1,024 leaves each, however many objects there are', () => {
    const ids = Array.from({ length: 2_048 }, (_, index) => `i${index}`)
    const snapshot = loaded(...ids.map((id) => object('identity', id)))
    assert.equal(stepCount(objectEvaluationTask(none, snapshot, 'Identity', ids, context)), 5)
    const single = compiled(leaf('identityEmail', 'NotEquals', 'x'))
    const stepCountOf = (count: number) =>
      stepCount(objectEvaluationTask(single, snapshot, 'Identity', ids.slice(0, count), context))
    assert.deepEqual([stepCountOf(1_023), stepCountOf(1_024), stepCountOf(2_047), stepCountOf(2_048)], [0, 1, 1, 2])
  })
})

describe('Display names', () => {
  it("are the object's own, and for a relationship the identity's and the title", () => {
    assert.equal(TENANT.displayNameOf('orgUnit', 'north'), 'North')
    assert.equal(TENANT.displayNameOf('relationship', 'kari-1'), 'Kari, Nurse')
    assert.equal(TENANT.displayNameOf('relationship', 'lost'), 'Lost')
    assert.equal(TENANT.displayNameOf('identity', 'nobody'), undefined)
  })
})

describe('Lists', () => {
  it('hold their elements apart, also with hundreds of different ones about', () => {
    const licence = (index: number): string => `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`
    const identities = Array.from({ length: 300 }, (_, index) =>
      object('identity', `i${index}`, { assignedLicenses: [licence(index), licence((index * 7) % 300)] }),
    )
    const snapshot = loaded(...identities)
    for (const index of [0, 1, 127, 128, 255, 299]) {
      const expected = identities.filter(({ attributes }) => `${attributes.assignedLicenses}`.includes(licence(index)))
      const found = members(snapshot, 'Identity', leaf('assignedLicenses', 'Contains', licence(index)))
      assert.deepEqual(found, expected.map(({ id }) => id).sort())
    }
  })
})

describe('Sets of codes', () => {
  it('keep every code when they outgrow the list, in whatever order they came', () => {
    const codes = new CodeSet()
    for (let code = 3000; code > 0; code -= 10) codes.add(code)
    for (let code = 1; code <= 4000; code += 1) assert.equal(codes.has(code), code % 10 === 0 && code <= 3000)
    assert.equal(codes.onlyCode(), undefined)
  })
})
