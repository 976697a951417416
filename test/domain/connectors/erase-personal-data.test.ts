import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Connector, newConnector } from '../../../shared/domain/connectors/connector.ts'
import { erasePersonalData } from '../../../shared/domain/connectors/erase-personal-data.ts'

/** Erases a person who has expired, and whom a live object of this connector had belonged to. */
async function erased(authority: Connector['authority']): Promise<string[]> {
  const calls: string[] = []
  const found = (call: string) => async () => calls.push(call) > 0
  const created = { id: 'source', createdBy: 'somebody', createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'Source', clientId: 'client', authority }, created)
  await erasePersonalData('tenant', 'expired', {
    connectors: { list: async () => [connector] },
    coreObjects: { mergedOfIds: async () => [] },
    personalData: {
      idsOfPerson: async () => [],
      liveObjectsOf: async () => [{ connectorId: 'source', coreObjectId: 'another' }],
      eraseNotes: found('notes'),
      eraseAudit: found('audit'),
      eraseConnectorObjects: found('connector objects'),
      eraseJobNotes: async () => void calls.push('job notes'),
      eraseResults: async () => void calls.push('results'),
      deleteSavedRows: async () => void calls.push('saved rows'),
      eraseCoreObjects: async () => void calls.push('core objects'),
    },
  })
  return calls
}

describe('Erasing the personal data of a person who has expired', () => {
  it('is refused while another identity has a record of theirs', async () => {
    await assert.rejects(erased('Full'), { code: 'IdentityIsLive', message: /another/ })
  })

  it('is not kept by a record that only supplemented them', async () => {
    assert.ok((await erased('Supplement')).includes('connector objects'))
  })
})
