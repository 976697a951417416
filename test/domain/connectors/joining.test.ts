import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import { decideJoining } from '../../../shared/domain/connectors/joining.ts'

const RANKS: Record<string, number> = { oldest: 0, middle: 1, youngest: 2 }
const rankOf = (connectorId: string): number => RANKS[connectorId] ?? 9

function identity(connectorId: string, coreObjectId: string, data: ConnectorObject['data']): ConnectorObject {
  const names = { id: `${connectorId}:${coreObjectId}`, connectorId, objectType: 'identity', externalId: 'x' } as const
  return { ...names, data, coreObjectId, references: {} }
}

const byNin = identity('youngest', 'core-1', { nin: '1' })
const byAccount = identity('oldest', 'core-2', { directoryObjectId: 'a' })
const otherPerson = identity('oldest', 'core-3', { nin: '2', directoryObjectId: 'a' })

describe('joining', () => {
  for (const [claim, current, data, others, isShared, expected] of [
    [
      'makes an object of its own where nobody matches',
      undefined,
      { nin: '1' },
      [otherPerson],
      false,
      { outcome: 'alone' },
    ],
    ['keeps the core object of one that is alone', 'mine', {}, [], false, { outcome: 'stay' }],
    ['takes one out that matches nobody any more', 'mine', {}, [], true, { outcome: 'alone' }],
    [
      'prefers the nin to the account',
      undefined,
      { nin: '1', directoryObjectId: 'a' },
      [byAccount, byNin],
      false,
      { outcome: 'join', coreObjectId: 'core-1' },
    ],
    [
      'goes by the account where a nin is unknown',
      undefined,
      { nin: '1', directoryObjectId: 'a' },
      [byAccount],
      false,
      { outcome: 'join', coreObjectId: 'core-2' },
    ],
    [
      'never takes two nin for one person',
      undefined,
      { nin: '1', directoryObjectId: 'a' },
      [otherPerson],
      false,
      { outcome: 'alone' },
    ],
    [
      'goes to the core object of an older connector',
      'mine',
      { directoryObjectId: 'a' },
      [byAccount],
      false,
      { outcome: 'join', coreObjectId: 'core-2' },
    ],
    [
      'gathers the objects of younger connectors',
      'mine',
      { nin: '1' },
      [byNin],
      false,
      { outcome: 'gather', others: [byNin] },
    ],
    ['stays with one it matches', 'core-1', { nin: '1' }, [byNin], true, { outcome: 'stay' }],
    [
      'leaves those it shares with for one it matches',
      'mine',
      { nin: '1' },
      [byNin],
      true,
      { outcome: 'join', coreObjectId: 'core-1' },
    ],
    [
      'does not join what its own connector says',
      undefined,
      { nin: '3' },
      [identity('middle', 'core-4', { nin: '3' })],
      false,
      { outcome: 'alone' },
    ],
  ] as const) {
    it(claim, () => {
      assert.deepEqual(decideJoining({ connectorId: 'middle', data }, current, others, isShared, rankOf), expected)
    })
  }
})
