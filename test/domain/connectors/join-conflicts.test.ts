import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupByPerson } from '../../../shared/domain/connectors/group-by-person.ts'

const CONNECTORS = ['oldest', 'youngest', 'supplement', 'unlisting']
const LISTED = ['nin', 'directoryObjectId']

type Keys = { readonly nin?: string; readonly directoryObjectId?: string }

/** @param pending A key by which not all identities are found yet. */
function conflictsOf(identities: Readonly<Record<string, Keys>>, pending?: string) {
  const rules = {
    rankOf: (connectorId: string) => CONNECTORS.indexOf(connectorId),
    bindsAccounts: () => true,
    supplements: (connectorId: string) => connectorId === 'supplement',
    joinsOn: (connectorId: string, key: string) => connectorId !== 'unlisting' && LISTED.includes(key),
    findsBy: (key: string) => key !== pending,
    typeOf: () => 'String' as const,
    joinKeys: LISTED,
  }
  const all = Object.entries(identities).map(([id, data]) => ({ id, connectorId: id.split(' ')[0] ?? '', data }))
  const { conflicts } = groupByPerson(all, rules)
  return conflicts.map(({ key, value, identities: apart }) => [`${key} ${value}`, apart.map(({ id }) => id).sort()])
}

const [X, Y] = [{ directoryObjectId: 'x' }, { directoryObjectId: 'y' }]

describe('Identities that a join key leaves apart', () => {
  for (const [claim, identities, expected] of [
    ['are none where each connector has one', { 'oldest a': X, 'youngest a': X }, []],
    ['are none with different values', { 'oldest a': X, 'youngest a': Y }, []],
    ['are none where no connector lists the key', { 'unlisting a': X, 'unlisting b': X }, []],
    [
      'are none of which each is another person',
      { 'oldest a': { ...X, nin: '1' }, 'youngest a': { ...X, nin: '2' } },
      [],
    ],
    [
      'are two of one connector that no other has',
      { 'oldest a': X, 'oldest b': X },
      [['directoryObjectId x', ['oldest a', 'oldest b']]],
    ],
    [
      'are two of one connector, and one of another that can be either',
      { 'oldest a': X, 'oldest b': X, 'youngest a': X, 'youngest b': Y },
      [['directoryObjectId x', ['oldest a', 'oldest b', 'youngest a']]],
    ],
    [
      'are two with different nin, and one without that can be either',
      { 'oldest a': { ...X, nin: '1' }, 'unlisting a': { ...X, nin: '2' }, 'youngest a': X },
      [['directoryObjectId x', ['oldest a', 'unlisting a', 'youngest a']]],
    ],
    [
      'are none where the nin has told before who of two is the third',
      { 'oldest a': { ...X, nin: '1' }, 'oldest b': { ...X, nin: '2' }, 'youngest a': { ...X, nin: '1' } },
      [],
    ],
    ['are none for a supplement of one person', { 'oldest a': X, 'youngest a': X, 'supplement a': X }, []],
    [
      'are the people whom a supplement can belong to, with it, by its first key that finds any',
      {
        'oldest a': { ...X, nin: '1' },
        'youngest a': { ...X, nin: '2' },
        'supplement a': { ...X, nin: '3' },
        'supplement b': X,
        'oldest c': Y,
      },
      [['directoryObjectId x', ['oldest a', 'supplement a', 'supplement b', 'youngest a']]],
    ],
    [
      'are of the people of a supplement those who have the key',
      {
        'oldest a': { nin: '1', ...X },
        'youngest a': { nin: '1' },
        'unlisting a': { nin: '2', ...X },
        'supplement a': X,
      },
      [['directoryObjectId x', ['oldest a', 'supplement a', 'unlisting a']]],
    ],
    [
      'are two supplements that are alike, and the one person whom both find',
      { 'oldest a': X, 'supplement a': X, 'supplement b': X, 'supplement c': Y },
      [
        ['directoryObjectId x', ['oldest a', 'supplement a', 'supplement b']],
        ['directoryObjectId x', ['oldest a', 'supplement a', 'supplement b']],
      ],
    ],
  ] as const) {
    it(claim, () => {
      assert.deepEqual(conflictsOf(identities), expected)
    })
  }

  it('are none by a key by which not all identities are found yet', () => {
    const alike = { 'oldest a': X, 'oldest b': X, 'youngest a': X, 'supplement a': X, 'supplement b': X }
    assert.deepEqual(conflictsOf(alike, 'directoryObjectId'), [])
    assert.equal(conflictsOf(alike).length, 3)
  })
})
