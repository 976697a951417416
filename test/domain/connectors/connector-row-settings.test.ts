import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Connector, newConnector } from '../../../shared/domain/connectors/connector.ts'
import { connectorRowSettings } from '../../../shared/domain/connectors/connector-row-settings.ts'

const CREATED = { createdBy: 'dddddddd-0000-4000-8000-000000000001', createdAt: '2030-01-01T00:00:00.000Z' }

function connector(id: string, softDeletionDays: number): Connector {
  return newConnector(
    { name: id, clientId: 'dddddddd-0000-4000-8000-000000000002', softDeletionDays },
    { id, ...CREATED },
  )
}

const [first, second] = [connector('first', 90), connector('second', 3)]
const deletionsOf = (...connectors: Connector[]) => connectorRowSettings(connectors).deletions

describe('How long deletions are kept', () => {
  it('is the shortest time of a connector, and a day without any', () => {
    assert.equal(deletionsOf(first, second).keptDays, 3)
    assert.equal(deletionsOf(first).keptDays, 90)
    assert.equal(deletionsOf().keptDays, 1)
  })

  it('names each change of a connector, also one that is taken back, and nothing else', () => {
    const { connectors } = deletionsOf(first, second)
    assert.equal(deletionsOf({ ...first }, { ...second }).connectors, connectors)
    const changes = [
      deletionsOf(first),
      deletionsOf(second),
      deletionsOf(first, second, connector('third', 90)),
      deletionsOf(first, { ...second, updatedAt: '2030-01-02T00:00:00.000Z' }),
      deletionsOf(first, connector('another', 3)),
    ].map((deletions) => deletions.connectors)
    assert.equal(new Set([connectors, ...changes]).size, 1 + changes.length)
  })
})
