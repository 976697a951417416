import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConnectorRules } from '../../../shared/domain/connectors/connector-rules.ts'
import {
  areOtherPeople,
  foldedKey,
  hasJoiningValue,
  joinKeysInOrder,
  joins,
  rekeyingKeysOf,
  soughtKeyValues,
  storedFoldedKeys,
} from '../../../shared/domain/connectors/join-keys.ts'
import type { CustomType } from '../../../shared/domain/core/custom-types.ts'

const LISTED: Readonly<Record<string, readonly string[]>> = {
  hr: ['nin', 'directoryObjectId', 'email'],
  school: ['nin'],
  unbound: ['directoryObjectId', 'email'],
  supplement: ['nin', 'directoryObjectId'],
  other: ['nin', 'directoryObjectId'],
}
const RULES: ConnectorRules = {
  rankOf: () => 0,
  bindsAccounts: (id) => id !== 'unbound' && !id.startsWith('supplement'),
  supplements: (id) => id.startsWith('supplement'),
  joinsOn: (id, key) => LISTED[id]?.includes(key) === true,
  findsBy: () => true,
  typeOf: () => 'String',
  joinKeys: ['nin', 'directoryObjectId', 'email'],
}
type Data = Readonly<Record<string, string>>
const of = (connectorId: string, data: Data) => ({ connectorId, data })

describe('The join keys of an identity', () => {
  const data = { email: 'Ann@A.example', nin: '01 AB', directoryObjectId: 'x' }

  it('are folded, in the order in which they decide', () => {
    assert.equal(foldedKey(data, 'email', RULES), 'ann@a.example')
    assert.equal(foldedKey({}, 'email', RULES), undefined)
    assert.deepEqual(joinKeysInOrder(of('hr', data), RULES), [
      'nin 01 ab',
      'directoryObjectId x',
      'email ann@a.example',
    ])
    assert.deepEqual(joinKeysInOrder(of('hr', {}), RULES), [])
  })

  it('are folded by their type, also as they were stored before they had it', () => {
    const keyOf = (type: CustomType, value: string | readonly string[]) =>
      foldedKey({ 'custom/badge': value }, 'custom/badge', { typeOf: () => type })
    assert.deepEqual([keyOf('Integer', '007'), keyOf('Integer', '7'), keyOf('Integer', 'B7')], ['7', '7', 'b7'])
    assert.deepEqual([keyOf('Boolean', 'TRUE'), keyOf('DateTime', '2030-01-15T10:00Z')], ['true', '2030-01-15t10:00z'])
    assert.deepEqual([keyOf('StringList', 'B7'), keyOf('StringList', ['B7'])], ['b7', 'b7'])
    assert.deepEqual([keyOf('String', '007'), keyOf('String', ['B7'])], ['007', 'b7'])
    assert.deepEqual([keyOf('StringList', ['B7', 'B8']), keyOf('String', ['B7', 'B8'])], [undefined, undefined])
  })

  it('are looked for with the nin also as it was sent', () => {
    const sought = soughtKeyValues({ nin: '01 AB' }, RULES)
    assert.deepEqual(sought, [
      { key: 'nin', value: '01 ab' },
      { key: 'nin', value: '01 AB' },
    ])
    assert.deepEqual(soughtKeyValues({ email: 'a@b' }, RULES), [{ key: 'email', value: 'a@b' }])
  })

  it('are stored folded, those that are looked up as they were sent only in another form', () => {
    assert.deepEqual(storedFoldedKeys(data, RULES), { email: 'ann@a.example', nin: '01 ab' })
    assert.deepEqual(storedFoldedKeys({ nin: '01', email: 'A@b' }, RULES), { email: 'a@b' })
    assert.equal(storedFoldedKeys({ nin: '01', directoryObjectId: 'X' }, RULES), undefined)
    assert.equal(storedFoldedKeys({}, RULES), undefined)
  })

  it('tell of another external id of the same connector where it lists them, accounts where it binds them', () => {
    assert.deepEqual(rekeyingKeysOf(of('hr', data), RULES), ['nin 01 ab', 'directoryObjectId x', 'email ann@a.example'])
    assert.deepEqual(rekeyingKeysOf(of('school', data), RULES), ['nin 01 ab'])
    assert.deepEqual(rekeyingKeysOf(of('unbound', data), RULES), ['email ann@a.example'])
    assert.deepEqual(rekeyingKeysOf(of('supplement', data), RULES), [])
  })
})

describe('Two identities', () => {
  it('are other people with two different nin, however they are written', () => {
    assert.equal(areOtherPeople(of('hr', { nin: 'A1' }), of('school', { nin: 'a1' })), false)
    assert.equal(areOtherPeople(of('hr', { nin: 'a1' }), of('school', { nin: 'a2' })), true)
    assert.equal(areOtherPeople(of('hr', {}), of('school', { nin: 'a2' })), false)
    assert.equal(areOtherPeople(of('hr', { nin: 'a1' }), of('school', {})), false)
  })

  it('can be joined by an account that is bound, or that finds the one that is supplemented', () => {
    const withAccount = (id: string) => hasJoiningValue(of(id, { directoryObjectId: 'x' }), 'directoryObjectId', RULES)
    assert.deepEqual(['hr', 'unbound', 'supplement'].map(withAccount), [true, false, true])
    assert.equal(hasJoiningValue(of('unbound', {}), 'email', RULES), true)
  })

  for (const [claim, left, right, key, expected] of [
    ['with the same value', of('hr', { nin: '1' }), of('school', { nin: '1' }), 'nin', true],
    ['without a value', of('hr', {}), of('school', {}), 'nin', false],
    ['with different values', of('hr', { nin: '1' }), of('school', { nin: '2' }), 'nin', false],
    ['of one connector', of('hr', { nin: '1' }), of('hr', { nin: '1' }), 'nin', false],
    ['that one of the connectors lists', of('school', { email: 'A' }), of('hr', { email: 'a' }), 'email', true],
    ['that the other one lists', of('hr', { email: 'A' }), of('school', { email: 'a' }), 'email', true],
    ['that neither lists', of('school', { email: 'a' }), of('other', { email: 'a' }), 'email', false],
    [
      'of two who have different nin',
      of('hr', { email: 'a', nin: '1' }),
      of('unbound', { email: 'a', nin: '2' }),
      'email',
      false,
    ],
    ['of a supplement and one that carries', of('supplement', { nin: '1' }), of('hr', { nin: '1' }), 'nin', true],
    ['of one that carries and a supplement', of('hr', { nin: '1' }), of('supplement', { nin: '1' }), 'nin', true],
    ['of two supplements', of('supplement', { nin: '1' }), of('supplement2', { nin: '1' }), 'nin', false],
    [
      'of an account that one does not bind',
      of('unbound', { directoryObjectId: 'x' }),
      of('hr', { directoryObjectId: 'x' }),
      'directoryObjectId',
      false,
    ],
    [
      'of an account that both bind',
      of('other', { directoryObjectId: 'x' }),
      of('hr', { directoryObjectId: 'x' }),
      'directoryObjectId',
      true,
    ],
  ] as const)
    it(`are ${expected ? '' : 'not '}joined by a key ${claim}`, () =>
      assert.equal(joins(left, right, key, RULES), expected))
})
