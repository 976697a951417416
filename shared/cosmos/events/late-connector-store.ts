import type { Container, OperationInput } from '@azure/cosmos'
import type { LateConnectorStore } from '../../domain/events/connector-events.ts'
import { isWriteConflict, queryAll, writeTogether } from '../documents.ts'
import type { Outbox } from './outbox.ts'

/** Container `events`, partition key `/tenantId`: a document for each connector that is late. */
export function cosmosLateConnectorStore(events: Container, outbox: Outbox): LateConnectorStore {
  return {
    async of(tenantId) {
      const query = 'SELECT VALUE c.lateConnectorId FROM c WHERE IS_DEFINED(c.lateConnectorId)'
      return new Set(await queryAll<string>(events, tenantId, { query }))
    },
    async record(tenantId, connectorId, isLate, event) {
      const id = `late:${connectorId}`
      const write: OperationInput = isLate
        ? { operationType: 'Create', resourceBody: { id, tenantId, lateConnectorId: connectorId } }
        : { operationType: 'Delete', id }
      const eventWrites = await outbox.prepare(tenantId, event === undefined ? [] : [event])
      const failed = await writeTogether(events, tenantId, [write, ...eventWrites])
      if (failed !== undefined && isWriteConflict(failed.status)) return
      if (failed !== undefined) throw new Error(`Recording a late connector failed with status ${failed.status}`)
      await outbox.notify('events', tenantId, eventWrites)
    },
  }
}
