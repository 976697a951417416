import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type StoredConnectorObject,
} from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorObjectWrite, FormerNameWrite } from '../../../shared/domain/connectors/connector-object-store.ts'
import { earlierNamesTo } from '../../../shared/domain/connectors/earlier-names.ts'
import { followRenames } from '../../../shared/domain/connectors/follow-renames.ts'
import type { WriteDecision } from '../../../shared/domain/connectors/write-decision.ts'

const deriveId = (...parts: string[]) => parts.join(' ')
const idOf = (externalId: string) =>
  connectorObjectId({ connectorId: 'hr', objectType: 'identity', externalId }, deriveId)

describe('A reference to a former name', () => {
  it('is rewritten again when a concurrent write kept it from being rewritten', async () => {
    const position = {
      ...{ id: 'position', connectorId: 'hr', objectType: 'relationship', externalId: 'nurse', coreObjectId: 'core' },
      ...{ data: { identity: { externalId: 'ada' } }, references: { identity: idOf('ada') } },
      lastUpdatedS: 1,
    } as StoredConnectorObject
    let stored = { value: position, version: '1' }
    const objects = {
      referringTo: async () => (stored.value.references.identity === idOf('ada') ? [stored] : []),
      write: async (_space: object, [write]: readonly ConnectorObjectWrite[]) => {
        // Another write has come first.
        if (stored.version === '1') stored = { value: position, version: '2' }
        else if (write !== undefined) stored = { value: { ...write.object, lastUpdatedS: 2 }, version: '3' }
        return new Set(stored.version === '2' ? ['position'] : [])
      },
    }
    const renamed = { objectType: 'identity', externalId: 'ada.lovelace', formerId: idOf('ada') }
    const connector = { id: 'hr', softDeletionDays: 30 } as Connector
    await followRenames('t', connector, [{ renamed } as unknown as WriteDecision], { objects, deriveId })
    assert.deepEqual(stored.value.data.identity, { externalId: 'ada.lovelace' })
    assert.equal(stored.value.references.identity, idOf('ada.lovelace'))
  })
})

describe('The earlier names of an object that is renamed', () => {
  const named = (id: string, renamedTo: string) =>
    [id, { value: { id, renamedTo } as ConnectorObject, version: '1' }] as const
  const before = { id: 'third', formerIds: ['first', 'second', 'other'] } as unknown as ConnectorObject

  function namesOf(write: FormerNameWrite | undefined): (readonly [string, string | undefined])[] {
    if (write === undefined) return []
    return [[write.object.id, write.object.renamedTo] as const, ...namesOf(write.formerName)]
  }

  it('lead to its new name also where one leads there over another one, and not where one leads elsewhere', () => {
    const names = new Map([named('first', 'second'), named('second', 'third'), named('other', 'elsewhere')])
    assert.deepEqual(namesOf(earlierNamesTo('fourth', before, names)).sort(), [
      ['first', 'fourth'],
      ['second', 'fourth'],
    ])
  })
})
