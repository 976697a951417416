import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { byCreation, CONNECTOR_DEFAULTS, Connector, type ConnectorStore } from '../../domain/connectors/connector.ts'
import type { AuditRecord } from '../../domain/history/audit.ts'
import { type AuditDocument, auditDocument, recordOf } from '../audit-trail.ts'
import { batchedDocumentReads } from '../batched-reads.ts'
import { cachedLists } from '../cached-lists.ts'
import { documentParser } from '../document-parser.ts'
import { ifVersion, queryAll, refuse, type Stored } from '../documents.ts'

const parse = documentParser('connector', Type.Object(Connector.properties))

const connector = (document: Stored<Connector>): Connector => parse({ ...CONNECTOR_DEFAULTS, ...document })

type ConnectorDocument = Connector & { readonly lastChange?: AuditDocument }

const documentOf = (tenantId: string, connector: Connector, change: AuditRecord | undefined) => ({
  ...connector,
  tenantId,
  ...(change !== undefined && { lastChange: auditDocument(change) }),
})

/** A connector in memory and each of its attribute types, at most about. */
const [CONNECTOR_BYTES, TYPE_BYTES] = [1_000, 150]
/** Of 10,000 connectors. A tenant has a few. */
const CACHED_BYTES = 10_000 * CONNECTOR_BYTES

/** Container `connectors`, partition key `/tenantId`. */
export function cosmosConnectorStore(container: Container): ConnectorStore {
  const read = batchedDocumentReads<ConnectorDocument>(container)
  return {
    list: cachedLists(container, {
      maxBytes: CACHED_BYTES,
      async read(tenantId) {
        const documents = await queryAll<Stored<Connector>>(container, tenantId, { query: 'SELECT * FROM c' })
        const items = documents.map(connector).sort(byCreation)
        const typeCount = items.reduce((sum, { attributeTypes }) => sum + attributeTypes.length, 0)
        return { items, sizeBytes: items.length * CONNECTOR_BYTES + typeCount * TYPE_BYTES }
      },
    }),
    async find(tenantId, id) {
      const document = await read(tenantId, id)
      if (document === undefined) return undefined
      const lastChange = document.lastChange && recordOf(document.lastChange)
      return { value: connector(document), version: document._etag, lastChange }
    },
    async add(tenantId, connector, change) {
      await container.items.create(documentOf(tenantId, connector, change))
    },
    async replace(tenantId, connector, version, change) {
      const { resource } = await container
        .item(connector.id, tenantId)
        .replace(documentOf(tenantId, connector, change), ifVersion(version))
        .catch(refuse({ 404: 'ConnectorNotFound', 412: 'StaleVersion' }))
      if (resource === undefined) throw new Error(`The database returned no document for connector ${connector.id}`)
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
