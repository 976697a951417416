import type { Container, SqlQuerySpec } from '@azure/cosmos'
import type { LinkRecord } from '../domain/links/group-link.ts'
import type { LinkStore } from '../domain/links/link-store.ts'
import type { Versioned } from '../domain/versioned.ts'
import { ifVersion, queryAll, refuse, type Stored } from './documents.ts'
import { gatheredReads } from './gathered-reads.ts'
import { toVersioned, written } from './versioned-document.ts'

const NOT_CURRENT = { 412: 'StaleVersion', 404: 'LinkNotFound' } as const

/** Container `links`: partition key `/tenantId`, unique `/directoryGroupId`, which decides between two creates. */
export function cosmosLinkStore(links: Container): LinkStore {
  const read = gatheredReads<LinkRecord>(links)
  const readCurrent = gatheredReads<LinkRecord>(links, { areCurrent: true })
  /** A tenant has few links, and a page of them costs what a single one does. */
  async function inTenant(tenantId: string, query: SqlQuerySpec): Promise<Versioned<LinkRecord>[]> {
    const found = await queryAll<Stored<LinkRecord>>(links, tenantId, query)
    return found.map((document) => toVersioned<LinkRecord>(document)).sort(oldestFirst)
  }

  return {
    async find(tenantId, linkId) {
      const document = await read(tenantId, linkId)
      return document === undefined ? undefined : toVersioned<LinkRecord>(document)
    },
    async findCurrent(tenantId, linkId) {
      const document = await readCurrent(tenantId, linkId)
      return document === undefined ? undefined : toVersioned<LinkRecord>(document)
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
    async add(link) {
      return written<LinkRecord>(
        await links.items.create<LinkRecord>(link).catch(refuse({ 409: 'GroupAlreadyLinked' })),
      )
    },
    async replace(link, version) {
      const item = links.item(link.id, link.tenantId)
      return written<LinkRecord>(await item.replace<LinkRecord>(link, ifVersion(version)).catch(refuse(NOT_CURRENT)))
    },
    async remove(tenantId, linkId, version) {
      await links.item(linkId, tenantId).delete(ifVersion(version)).catch(refuse(NOT_CURRENT))
    },
  }
}

/** Timestamps of one form sort as text; the id settles those of one millisecond. */
function oldestFirst({ value: one }: Versioned<LinkRecord>, { value: other }: Versioned<LinkRecord>): number {
  const [first, second] = [`${one.createdAt} ${one.id}`, `${other.createdAt} ${other.id}`]
  return first < second ? -1 : Number(first > second)
}
