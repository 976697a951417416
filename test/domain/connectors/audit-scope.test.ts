import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ChangedConnectorObject, coreObjectsToAudit } from '../../../shared/domain/connectors/audit-scope.ts'

describe('An audit', () => {
  it('reads what was written since an hour before the last one: the clocks of the database can be behind', async () => {
    const nowMs = Date.parse('2030-01-02T08:00:00Z')
    const audited = { auditedAtMs: Date.parse('2030-01-02T07:00:00.500Z'), completeAtMs: nowMs }
    const sinceS: number[] = []
    const since = <Found>(found: Found[]) => {
      return async (_tenantId: string, fromS: number) => {
        sinceS.push(fromS)
        return found
      }
    }
    const deps = {
      objects: { coreObjectsReferringTo: async () => [], conflicting: async () => [] },
      audits: {
        find: async () => audited,
        save: async () => undefined,
        connectorObjectsSince: since<ChangedConnectorObject>([]),
        coreObjectsSince: since(['ada']),
      },
    }
    const tenantId = '00000000-0000-4000-8000-000000000001'
    assert.deepEqual(await coreObjectsToAudit(tenantId, { audited, connectors: [], nowMs }, deps), ['ada'])
    const anHourBefore = Date.parse('2030-01-02T06:00:00Z') / 1000
    assert.deepEqual(sinceS, [anHourBefore, anHourBefore])
  })
})
