import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { attributesRead, dependsOnDay } from '../../../shared/domain/criteria/condition.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import {
  type CachedEvaluation,
  definitionKeyOf,
  type EvaluationPass,
  idsNow,
  inLevels,
  todayFor,
} from '../../../shared/domain/evaluation/members-now.ts'
import type { KnownChanges } from '../../../shared/domain/tenant-index/rows/row-changes.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'

const DAY_MS = Date.parse('2030-03-01T00:00:00Z')
const NEXT_DAY_MS = Date.parse('2030-03-02T00:00:00Z')
const REFERRED_TO = '11111111-1111-4111-8111-111111111111'

const person = (id: string, displayName: string) => ({
  id,
  objectType: 'identity' as const,
  externalId: id,
  attributes: { displayName },
  deleted: false,
})

const COLLECTION = { objectType: 'Identity', refersTo: [REFERRED_TO] } as unknown as Collection

/** What is remembered of a collection whose only member so far was `ann`. */
function remembered(value: string, name = 'identityDisplayName'): CachedEvaluation {
  const leaf = { id: name, field: name, operator: 'Equals', value }
  const schema = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
  const check = checkCondition({ groupOperator: 'AND', conditions: [leaf] }, schema)
  assert.ok(check.ok)
  const known = {
    definitionVersion: 1,
    condition: compile(check.condition),
    dependsOnDay: dependsOnDay(check.condition),
    attributesRead: attributesRead(check.condition),
    readsAnyPosition: false,
    ids: ['ann'],
    isReleased: false,
  }
  const definitionKey = definitionKeyOf({ ...known, head: undefined }, DAY_MS)
  const head = { count: 1, membershipVersion: 1, definitionKey, evaluatedAtMs: DAY_MS, epoch: 1 }
  return { ...known, head: { value: head, version: '1' } }
}

const changesOf = (ids: readonly string[], attributes: readonly string[], rowsMoved = false): KnownChanges => ({
  ids: { identity: new Set(ids), orgUnit: new Set(), relationship: new Set() },
  rewritten: { identity: new Set(ids), orgUnit: new Set(), relationship: new Set() },
  attributes: new Set(attributes),
  rowsMoved,
  isAnyRestored: false,
})

/** The members now on rows where both `ann` and `bo` are called Ann; the ids of the rows looked at one by one. */
function evaluated(known: CachedEvaluation, round: Partial<EvaluationPass>, todayMs = DAY_MS) {
  const rows = new RowSnapshot()
  rows.apply([person('ann', 'Ann'), person('bo', 'Ann'), person('cat', 'Ann')])
  let isRead = false
  const watched = new Proxy(known.condition, {
    get(condition, name, receiver) {
      isRead = true
      const member: unknown = Reflect.get(condition, name, receiver)
      return typeof member === 'function' ? member.bind(condition) : member
    },
  })
  const context = { todayMs, membersOf: () => undefined }
  const nothing: EvaluationPass = { rows, changes: changesOf([], []), changedMembers: new Set(), context }
  const memory = { ...known, condition: watched }
  const ids = runToCompletion(idsNow(COLLECTION, memory, definitionKeyOf(memory, todayMs), { ...nothing, ...round }))
  return { ids, isRead }
}

const NOT_LOOKED_AT = { ids: undefined, isRead: false }
const WHOLE = { ids: ['ann', 'bo', 'cat'], isRead: true }
const RELEASED = { ids: undefined, isReleased: true }

describe('The members of a collection are not evaluated', () => {
  const known = remembered('Ann')
  for (const [claim, round] of [
    ['when nothing has changed', {}],
    [
      'when attributes have changed that its condition does not read',
      { changes: changesOf(['bo'], ['identityEmail']) },
    ],
    ['when objects of another type have changed', { changes: changesOf([], ['identityDisplayName'], true) }],
    ['when the members of a collection that it does not name have', { changedMembers: new Set(['another']) }],
  ] as const) {
    it(claim, () => {
      assert.deepEqual(evaluated(known, round), NOT_LOOKED_AT)
      assert.deepEqual(evaluated({ ...known, ...RELEASED }, round), NOT_LOOKED_AT)
    })
  }

  it('on a new day when the condition does not depend on it', () => {
    assert.deepEqual(evaluated(known, {}, NEXT_DAY_MS), NOT_LOOKED_AT)
  })
})

describe('The members of a collection are', () => {
  const known = remembered('Ann')
  it('evaluated for the changed objects only, when their attributes or rows have changed', () => {
    for (const changes of [changesOf(['bo'], ['identityDisplayName']), changesOf(['bo'], [], true)]) {
      assert.deepEqual(evaluated(known, { changes }).ids, ['ann', 'bo'])
    }
  })

  it('evaluated in full when the members of a collection that it refers to have changed', () => {
    assert.deepEqual(evaluated(known, { changedMembers: new Set([REFERRED_TO]) }), WHOLE)
  })

  it('evaluated in full when the changes are not known in detail', () => {
    assert.deepEqual(evaluated(known, { changes: 'everything' }), WHOLE)
  })

  it('evaluated in full when they are not kept, and a change may concern them or their accounts', () => {
    assert.deepEqual(evaluated({ ...known, ids: undefined }, {}), WHOLE)
    for (const attribute of ['identityDisplayName', 'identityDirectoryObjectId']) {
      assert.deepEqual(evaluated({ ...known, ...RELEASED }, { changes: changesOf(['bo'], [attribute]) }), WHOLE)
    }
  })

  it('evaluated in full after a new definition', () => {
    assert.deepEqual(evaluated({ ...known, definitionVersion: 2 }, {}), WHOLE)
  })

  it('evaluated in full on a new day when the condition depends on it', () => {
    const ofToday = remembered('Today()', 'relationshipEndDate')
    assert.deepEqual(evaluated(ofToday, {}), NOT_LOOKED_AT)
    assert.deepEqual(evaluated(ofToday, {}, NEXT_DAY_MS), { ids: [], isRead: true })
  })
})

describe('The levels of collections', () => {
  it('have each one above all that it refers to, and as low as possible', () => {
    const collection = (id: string, ...refersTo: string[]) => ({ id, refersTo }) as unknown as Collection
    const all = [
      ...[collection('d', 'b', 'c'), collection('c', 'b', 'a'), collection('b', 'a'), collection('a', 'joinable')],
      ...[collection('e', 'a'), collection('f')],
    ]
    const levels = inLevels(all).map((level) => level.map(({ id }) => id).sort())
    assert.deepEqual(levels, [['a', 'f'], ['b', 'e'], ['c'], ['d']])
  })
})

describe('The day of evaluation', () => {
  const headBy = (definitionKey: string): CachedEvaluation['head'] => ({
    value: { count: 1, membershipVersion: 1, definitionKey, evaluatedAtMs: DAY_MS, epoch: 1 },
    version: 'version',
  })
  const today = (definitionKey: string, beforeMidnightMs: number) => {
    const times = { nowMs: NEXT_DAY_MS - beforeMidnightMs, clockDifferenceMs: 120_000 }
    return todayFor([undefined, headBy(definitionKey)], UTC, times)
  }

  it('is the next one shortly before midnight, once another evaluator has used it', () => {
    assert.equal(today(`1@${NEXT_DAY_MS}`, 60_000), NEXT_DAY_MS)
    assert.equal(today(`1@${DAY_MS}`, 60_000), DAY_MS)
    assert.equal(today(`1@${DAY_MS}`, 0), NEXT_DAY_MS)
  })

  it('is not that of a clock that is ahead by more than the limit', () => {
    assert.equal(today(`1@${NEXT_DAY_MS}`, 121_000), DAY_MS)
  })
})
