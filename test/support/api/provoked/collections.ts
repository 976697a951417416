import { randomUUID } from 'node:crypto'
import type { RefusalCode } from '../../../../shared/kernel/refusal-register.ts'
import { approvedBy, equals, type JoinableFixture, OPEN } from '../joinable-fixture.ts'
import type { Provocation } from './provocation.ts'

const CRITERIA = '/collections-criteria/beta'
const JOINABLE = '/collections-joinable/beta'

const memberOf = (id: string) => equals('memberOfCollection', id)
const manager = { type: 'Manager' }

/** Refusals of collections of both kinds, join policies among them. */
export function collectionProvocations({ call, admin, criteria, joinable }: JoinableFixture) {
  const make = (path: string, body: object) => call(admin, 'POST', path, { objectType: 'Identity', name: 'x', ...body })
  const policy = (joinPolicy: object) => make(JOINABLE, { joinPolicy })
  const gates = (...approvalGates: object[]) => policy({ approvalRequired: true, approvalGates })
  const change = (path: string, id: string, body: object, headers = {}) =>
    call(admin, 'PUT', `${path}/${id}`, { objectType: 'Identity', ...body }, headers)
  return {
    CollectionNotFound: () => call(admin, 'GET', `/collections/beta/${randomUUID()}`),
    async ObjectNotFound() {
      return call(admin, 'GET', `/collections/beta/${await joinable(OPEN)}/explain?objectId=${randomUUID()}`)
    },
    async HistoryNotKept() {
      return call(admin, 'GET', `/collections/beta/${await joinable(OPEN)}/results?asOf=2020-01-01`)
    },
    async VersionNotFound() {
      return call(admin, 'GET', `/collections/beta/${await joinable(OPEN)}/versions/${randomUUID()}`)
    },
    CollectionUnknown: () => policy({ ...OPEN, joinableBy: { collectionIds: [randomUUID()] } }),
    async CollectionInUse() {
      const used = await joinable(OPEN)
      await joinable({ ...OPEN, joinableBy: { collectionIds: [used] } })
      return call(admin, 'DELETE', `${JOINABLE}/${used}`)
    },
    async CircularReference() {
      const first = await criteria('Identity', equals('identityDisplayName', 'Ada'))
      const second = await criteria('Identity', memberOf(first))
      return change(CRITERIA, first, { condition: memberOf(second) })
    },
    async PreconditionFailed() {
      return change(JOINABLE, await joinable(OPEN), { name: 'y' }, { 'if-match': '"another"' })
    },
    async PlanExpired() {
      const id = await criteria('Identity', equals('identityDisplayName', 'Ada'))
      return change(CRITERIA, id, { name: 'y' }, { 'if-plan': 'unknown' })
    },
    ObjectTypeNotSupported: () => make(JOINABLE, { objectType: 'User', joinPolicy: OPEN }),
    async ObjectTypeFixed() {
      return change(JOINABLE, await joinable(OPEN), { objectType: 'Relationship' })
    },
    DuplicateTag: () => make(JOINABLE, { joinPolicy: OPEN, metadata: { tags: ['a', ' A '] } }),
    GateRequired: () => gates(),
    InvalidGateOrder: () => gates({ order: 0, ...manager }),
    DuplicateGateOrder: () => gates({ order: 1, ...manager }, { order: 1, type: 'Identity', approvers: [] }),
    UnknownGateType: () => gates({ order: 1, type: 'Committee' }),
    DuplicateManagerGate: () => policy(approvedBy(manager, manager)),
    ApproversRequired: () => policy(approvedBy({ type: 'Identity', approvers: [] })),
    ApproversNotAllowed: () => policy(approvedBy({ ...manager, approvers: [randomUUID()] })),
    IdentityUnknown: () => policy(approvedBy({ type: 'Identity', approvers: [randomUUID()] })),
  } satisfies Partial<Record<RefusalCode, Provocation>>
}

const NAME = 'identityDisplayName'
const leaf = (change: object = {}) => ({ id: NAME, field: NAME, operator: 'Equals', value: 'x', ...change })
const all = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })
const nested = (depth: number): object => (depth === 1 ? all(leaf()) : all(nested(depth - 1)))
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const started = 'relationshipStartDate'

/** Refusals of conditions. */
export function conditionProvocations({ call, admin }: JoinableFixture) {
  const refusing = (condition: unknown) => () =>
    call(admin, 'POST', CRITERIA, { objectType: 'Identity', name: 'x', condition })
  return {
    RootNotGroup: refusing(leaf()),
    InvalidNode: refusing(all('text')),
    ValueTypeMismatch: refusing(all(leaf({ value: 'Today()' }))),
    InvalidMember: refusing({ groupOperator: 'AND', conditions: {} }),
    AnyPositionNested: refusing({ ...all({ ...all(leaf()), over: 'AnyPosition' }), over: 'AnyPosition' }),
    AnyPositionNotAllowed: () =>
      call(admin, 'POST', CRITERIA, {
        objectType: 'OrgUnit',
        name: 'x',
        condition: { ...all(leaf()), over: 'AnyPosition' },
      }),
    UnknownGroupOperator: refusing({ ...all(leaf()), groupOperator: 'MAYBE' }),
    EmptyGroup: refusing(all()),
    FieldNotInSchema: refusing(all(leaf({ id: 'nothing', field: 'nothing' }))),
    FieldNotNamedById: refusing(all(leaf({ field: 'identityEmail' }))),
    UnknownFunction: refusing(all(leaf({ field: `Reverse(${NAME})` }))),
    InvalidFunctionArgument: refusing(all(leaf({ field: `Substring(${NAME},-1,2)` }))),
    FunctionNotAllowed: refusing(all(leaf({ field: `AddDays(${NAME},1)` }))),
    NestedFunctions: refusing(all(leaf({ id: started, field: `AddDays(AddDays(${started},1),1)` }))),
    TooManyFunctions: refusing(all(leaf({ field: `${'ToLower('.repeat(17)}${NAME}${')'.repeat(17)}` }))),
    UnknownOperator: refusing(all(leaf({ operator: 'Resembles' }))),
    OperatorNotAllowed: refusing(all(leaf({ id: 'identityId', field: 'identityId', operator: 'StartsWith' }))),
    ListRequired: refusing(all(leaf({ operator: 'In' }))),
    ConditionTooLarge: refusing(all(...times(400, () => leaf({ value: 'x'.repeat(390) })))),
    ConditionTooDeep: refusing(nested(17)),
    TooManyLeaves: refusing(all(...times(501, leaf))),
    TooManyEntries: refusing(all(leaf({ operator: 'In', value: times(1001, () => 'x') }))),
  } satisfies Partial<Record<RefusalCode, Provocation>>
}
