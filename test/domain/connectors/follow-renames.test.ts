import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import { connectorObjectId, type StoredConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorObjectWrite } from '../../../shared/domain/connectors/connector-object-store.ts'
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
