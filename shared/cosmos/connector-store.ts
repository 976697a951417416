import type { Container } from '@azure/cosmos'
import type { ConnectorStore } from '../domain/connectors/connector.ts'
import { byCreation, type Connector } from '../domain/connectors/connector.ts'
import { batchedDocumentReads } from './batched-reads.ts'
import { ifVersion, queryAll, refuse, type Stored } from './documents.ts'

/** Container `connectors`, partition key `/tenantId`. */
export function cosmosConnectorStore(container: Container): ConnectorStore {
  const read = batchedDocumentReads<Connector>(container)
  return {
    async list(tenantId) {
      const documents = await queryAll<Stored<Connector>>(container, tenantId, { query: 'SELECT * FROM c' })
      return documents.map(parsed).sort(byCreation)
    },
    async find(tenantId, id) {
      const document = await read(tenantId, id)
      return document && { value: parsed(document), version: document._etag }
    },
    async add(tenantId, connector) {
      await container.items.create({ ...connector, tenantId })
    },
    async replace(tenantId, connector, version) {
      const { resource } = await container
        .item(connector.id, tenantId)
        .replace({ ...connector, tenantId }, ifVersion(version))
        .catch(refuse({ 404: 'ConnectorNotFound', 412: 'StaleVersion' }))
      if (resource === undefined) throw new Error(`The database answered nothing to the replace of ${connector.id}`)
      return { value: connector, version: resource._etag }
    },
    async remove(tenantId, id, version) {
      await container
        .item(id, tenantId)
        .delete(ifVersion(version))
        .catch(refuse({ 404: 'ConnectorNotFound', 412: 'StaleVersion' }))
    },
  }
}

function parsed(document: Stored<Connector>): Connector {
  const { id, name, clientId, softDeletionDays, enabled, createdAt, createdBy, updatedAt } = document
  const isWhole = [id, name, clientId, createdAt, createdBy, updatedAt].every((member) => typeof member === 'string')
  if (!isWhole || !Number.isInteger(softDeletionDays) || typeof enabled !== 'boolean') {
    throw new Error(`The stored connector ${id} is not one`)
  }
  return { id, name, clientId, softDeletionDays, enabled, createdAt, createdBy, updatedAt }
}
