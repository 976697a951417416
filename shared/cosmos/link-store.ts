import type { Container, SqlQuerySpec } from '@azure/cosmos'
import { GroupLink } from '../domain/group-links/group-link.ts'
import type { LinkFilter, LinkStore } from '../domain/group-links/link-dependencies.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { batchedDocumentReads } from './batched-reads.ts'
import { matching, readPageByCreation } from './creation-page.ts'
import { versionedDocumentParser } from './document-parser.ts'
import { ifVersion, queryAll, REPLICATION_LAG_MS, refuse, type Stored } from './documents.ts'

const NOT_CURRENT = { 412: 'StaleVersion', 404: 'LinkNotFound' } as const

const { parse, parseWritten } = versionedDocumentParser('group link', GroupLink)

const FILTERS = {
  collectionId: 'c.collectionId = @collectionId',
  directoryGroupId: 'c.directoryGroupId = @directoryGroupId',
  state: 'c.state = @state',
  lastSyncOutcome: 'c.lastSyncOutcome = @lastSyncOutcome',
} as const satisfies Record<keyof LinkFilter, string>

/** Container `links`: partition key `/tenantId`, unique key `/directoryGroupId`, which decides between concurrent creates. */
export function cosmosLinkStore(links: Container): LinkStore {
  const read = batchedDocumentReads<GroupLink>(links)
  const readCurrent = batchedDocumentReads<GroupLink>(links, { areCurrent: true })
  /** A tenant has few links. Reading all of them costs one page. */
  async function inTenant(tenantId: string, query: SqlQuerySpec): Promise<Versioned<GroupLink>[]> {
    const found = await queryAll<unknown>(links, tenantId, query)
    return found.map(parse).sort(oldestFirst)
  }

  return {
    replicationLagMs: REPLICATION_LAG_MS,
    async find(tenantId, linkId) {
      const document = await read(tenantId, linkId)
      return document === undefined ? undefined : parse(document)
    },
    async findCurrent(tenantId, linkId) {
      const document = await readCurrent(tenantId, linkId)
      return document === undefined ? undefined : parse(document)
    },
    ofCollection(tenantId, collectionId) {
      return inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE c.collectionId = @collectionId',
        parameters: [{ name: '@collectionId', value: collectionId }],
      })
    },
    async ofGroup(tenantId, directoryGroupId) {
      const [link] = await inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE c.directoryGroupId = @groupId',
        parameters: [{ name: '@groupId', value: directoryGroupId }],
      })
      return link
    },
    ofTenant(tenantId) {
      return inTenant(tenantId, { query: 'SELECT * FROM c' })
    },
    async count(tenantId) {
      const [count = 0] = await queryAll<number>(links, tenantId, { query: 'SELECT VALUE COUNT(1) FROM c' })
      return count
    },
    async ofGroups(tenantId, directoryGroupIds) {
      if (directoryGroupIds.length === 0) return []
      const found = await inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@groupIds, c.directoryGroupId)',
        parameters: [{ name: '@groupIds', value: [...directoryGroupIds] }],
      })
      return found.map(({ value }) => value)
    },
    async page(tenantId, filter, after, size) {
      const { conditions, parameters } = matching(filter, FILTERS)
      const where = ['IS_DEFINED(c.collectionId)', ...conditions].join(' AND ')
      const query = { where, parameters, newestFirst: false, after, size }
      const page = await readPageByCreation<Stored<GroupLink>>(links, tenantId, query)
      return { ...page, items: page.items.map((document) => parse(document).value) }
    },
    async add(link) {
      return parseWritten(await links.items.create(link).catch(refuse({ 409: 'GroupAlreadyLinked' })))
    },
    async replace(link, version) {
      const item = links.item(link.id, link.tenantId)
      return parseWritten(await item.replace(link, ifVersion(version)).catch(refuse(NOT_CURRENT)))
    },
    async remove(tenantId, linkId, version) {
      await links.item(linkId, tenantId).delete(ifVersion(version)).catch(refuse(NOT_CURRENT))
    },
  }
}

/** Timestamps of one format sort as text. The id decides between links of the same millisecond. */
function oldestFirst({ value: one }: Versioned<GroupLink>, { value: other }: Versioned<GroupLink>): number {
  const [first, second] = [`${one.createdAt} ${one.id}`, `${other.createdAt} ${other.id}`]
  return first < second ? -1 : Number(first > second)
}
