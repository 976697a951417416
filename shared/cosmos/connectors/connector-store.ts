import type { Container } from '@azure/cosmos'
import { type TObject, Type } from 'typebox'
import { byCreation, CONNECTOR_DEFAULTS, Connector, type ConnectorStore } from '../../domain/connectors/connector.ts'
import type { AuditRecord } from '../../domain/history/audit.ts'
import { type AuditDocument, auditDocument, recordOf } from '../audit-trail.ts'
import { batchedDocumentReads } from '../batched-reads.ts'
import { cachedLists } from '../cached-lists.ts'
import { documentParser } from '../document-parser.ts'
import { ifVersion, queryAll, refuse, type Stored } from '../documents.ts'

const parse = documentParser<TObject, Connector>(
  'connector',
  Type.Object({
    ...Connector.properties,
    keysPendingSinceMs: Type.Optional(Type.Record(Type.String(), Type.Number())),
  }),
)

const connector = (document: Stored<Connector>): Connector => parse({ ...CONNECTOR_DEFAULTS, ...document })

type ConnectorDocument = Connector & {
  readonly lastChange?: AuditDocument
  readonly earlierVersions?: readonly string[]
}

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
  const replaceDocument = async (tenantId: string, document: ConnectorDocument, version: string) => {
    const { resource } = await container
      .item(document.id, tenantId)
      .replace(document, ifVersion(version))
      .catch(refuse({ 404: 'ConnectorNotFound', 412: 'StaleVersion' }))
    if (resource === undefined) throw new Error(`The database returned no document for connector ${document.id}`)
    return resource._etag
  }
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
      const { _etag: version, earlierVersions } = document
      return { value: connector(document), version, lastChange, earlierVersions }
    },
    async add(tenantId, connector, change) {
      await container.items.create(documentOf(tenantId, connector, change))
    },
    async replace(tenantId, connector, version, change) {
      const replaced = await replaceDocument(tenantId, documentOf(tenantId, connector, change), version)
      return { value: connector, version: replaced }
    },
    async replacePendingKeys(tenantId, { value, version, lastChange, earlierVersions = [] }) {
      const document = documentOf(tenantId, value, lastChange)
      await replaceDocument(tenantId, { ...document, earlierVersions: [...earlierVersions, version] }, version)
    },
    async remove(tenantId, id, version) {
      await container
        .item(id, tenantId)
        .delete(ifVersion(version))
        .catch(refuse({ 404: 'ConnectorNotFound', 412: 'StaleVersion' }))
    },
  }
}
