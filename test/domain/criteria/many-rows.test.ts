import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CollectionMembers, RowObjectType } from '../../../shared/domain/criteria/collection-members.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import type { NamedMembersContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { COLLECTIONS, checked, SCHEMA, TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate, evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'
import { naiveMembers } from '../../support/domain/criteria/naive-evaluator.ts'

const TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const
const [OF_PEOPLE, OF_UNITS] = COLLECTIONS as [string, string]

const guids = (kind: string) => (index: number) => `${kind.repeat(8)}-0000-4000-8000-${String(index).padStart(12, '0')}`
const [person, unit, position] = [guids('a'), guids('b'), guids('c')]
const object = (objectType: SnapshotObject['objectType'], id: string, attributes: SnapshotObject['attributes']) =>
  ({ id, objectType, externalId: id, attributes, deleted: false }) satisfies SnapshotObject
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** 320 positions; every ninth is vacant, every seventh without a unit. Of 96 people and 40 units, some have none. */
const OBJECTS: readonly SnapshotObject[] = [
  ...many(96, (index) =>
    object('identity', person(index), {
      displayName: `Name ${index % 37}`,
      ...(index % 3 === 0 && { email: `Name ${index % 5}` }),
      ...(index % 4 === 0 && { primaryRelationship: { objectId: position(index * 2) } }),
    }),
  ),
  ...many(40, (index) =>
    object('orgUnit', unit(index), {
      displayName: `Name ${index}`,
      ...(index % 2 === 0 && { manager: { objectId: person(index) }, parent: { objectId: unit(index >> 1) } }),
    }),
  ),
  ...many(320, (index) =>
    object('relationship', position(index), {
      title: `Title ${index % 160}`,
      ...(index < 300 && { type: `Type ${index % 3}` }),
      ...(index % 8 !== 0 && { startDate: index % 2 === 0 ? '2024-02-29' : '2023-01-01' }),
      ...(index % 5 !== 0 && { endDate: index % 3 === 0 ? '2024-02-28' : '2024-03-01' }),
      ...(index % 9 !== 0 && { identity: { objectId: person((index * 7) % 80) } }),
      ...(index % 7 !== 0 && { orgUnit: { objectId: unit((index * 3) % 33) } }),
    }),
  ),
]
const MEMBERS: Readonly<Record<string, CollectionMembers>> = {
  [OF_PEOPLE]: { kind: 'criteria', objectType: 'Identity', ids: new Set(many(50, (index) => person(index * 2))) },
  [OF_UNITS]: { kind: 'criteria', objectType: 'OrgUnit', ids: new Set(many(20, (index) => unit(index))) },
}
const CONTEXT: NamedMembersContext = { todayMs: TODAY_MS, membersOf: (id) => MEMBERS[id] }

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: object[]) => ({ groupOperator, conditions })
const otherAttribute = (attribute: string) => ({ attribute })

const LEAVES: Readonly<Record<string, object>> = {
  'a text of the position': leaf('relationshipTitle', 'EndsWith', '7'),
  'another text of the position': leaf('relationshipTitle', 'NotContains', '7'),
  'a listed text': leaf('relationshipType', 'In', ['Type 0', 'Type 2']),
  'a missing value': leaf('relationshipType', 'IsNull'),
  'a value that no position has': leaf('relationshipSubType', 'NotEquals', 'x'),
  'a text of the person': leaf('identityDisplayName', 'Contains', '3'),
  'no text of the person': leaf('identityEmail', 'IsNull'),
  'another text of the unit': leaf('orgUnitDisplayName', 'NotEquals', 'Name 3'),
  'no holder': leaf('relationshipIdentity', 'IsNull'),
  'one holder': leaf('relationshipIdentity', 'Equals', person(14)),
  'other units': leaf('relationshipOrgUnit', 'NotEquals', unit(6)),
  'texts of one object': leaf('identityDisplayName', 'Equals', otherAttribute('identityEmail')),
  'other texts of one object': leaf('identityDisplayName', 'NotEquals', otherAttribute('identityEmail')),
  'texts of two objects': leaf('identityDisplayName', 'Equals', otherAttribute('orgUnitDisplayName')),
  'other texts of two objects': leaf('orgUnitDisplayName', 'NotEquals', otherAttribute('identityDisplayName')),
  'days of one object': leaf('relationshipStartDate', 'LessThan', otherAttribute('relationshipEndDate')),
  'today and a day': leaf('relationshipStartDate', 'Equals', otherAttribute('relationshipStartDate'), 'Today()'),
  'the manager of the own unit': leaf('orgUnitManager', 'Equals', otherAttribute('identityId')),
  'a computed attribute': leaf('relationshipIsActive', 'Equals', true),
  'a day from today': leaf('relationshipEndDate', 'LessThan', 'Today()'),
  'today itself': leaf('relationshipStartDate', 'Equals', 'Today()', 'Today()'),
  'members of a collection': leaf('memberOfCollection', 'Equals', OF_PEOPLE),
  'those in neither of two collections': group(
    'NOT',
    leaf('memberOfCollection', 'Equals', OF_UNITS),
    leaf('memberOfCollection', 'Equals', OF_PEOPLE),
  ),
  'any position': { ...group('AND', leaf('relationshipType', 'Equals', 'Type 1')), over: 'AnyPosition' },
}

/** Leaves that leave few rows of each type for those after them, and many. */
const few = (id: string, idOf: (index: number) => string) =>
  leaf(
    id,
    'In',
    many(3, (index) => idOf(index * 13 + 1)),
  )
const FEW = group('OR', few('identityId', person), few('orgUnitId', unit), few('relationshipId', position))
const MANY = group('NOT', FEW)

const FORMS: Readonly<Record<string, (node: object) => object>> = {
  'all rows': (node) => group('AND', node),
  'few rows': (node) => group('AND', node, FEW),
  'two rows': (node) => group('AND', leaf('relationshipTitle', 'In', ['Title 14', 'Title 157']), node),
  'what many rows leave': (node) => group('OR', MANY, node),
  'rows that satisfy one of two': (node) => group('XOR', node, FEW),
}

const SNAPSHOT = new RowSnapshot()
SNAPSHOT.apply(OBJECTS)
const idsOf = (type: RowObjectType) =>
  OBJECTS.flatMap(({ id, objectType }) => (objectType === type[0]?.toLowerCase() + type.slice(1) ? [id] : []))

describe('A condition on hundreds of rows', () => {
  for (const [claim, node] of Object.entries(LEAVES)) {
    it(`finds ${claim}, on all rows and on few, as the naive evaluator does`, () => {
      for (const [form, condition] of Object.entries(FORMS)) {
        const { wire, root } = checked(condition(node))
        const compiled = compile({ wire, root })
        for (const type of TYPES) {
          if (type === 'OrgUnit' && claim === 'any position') continue
          const expected = naiveMembers(wire, SCHEMA, OBJECTS, type, CONTEXT)
          const message = `${type}, ${form}`
          // Twice: the first evaluation has tested the values of leaves that the second one finds tested.
          assert.deepEqual(evaluate(compiled, SNAPSHOT, type, CONTEXT), expected, message)
          assert.deepEqual(evaluate(compiled, SNAPSHOT, type, CONTEXT), expected, message)
          const each = evaluateObjects(compiled, SNAPSHOT, type, idsOf(type), CONTEXT)
          assert.deepEqual(
            [...each].flatMap(([id, isMember]) => (isMember ? [id] : [])),
            expected,
            message,
          )
        }
      }
    })
  }
})
