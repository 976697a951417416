import type { Container } from '@azure/cosmos'
import type { AccountClaim } from '../../domain/connectors/account-claims.ts'
import type { CoreObjectWrite, CoreObjectWriter } from '../../domain/connectors/merge-writes.ts'
import type { MergedCoreObject } from '../../domain/connectors/merged-core-object.ts'
import type { UnresolvedReferenceReader } from '../../domain/connectors/unresolved-references.ts'
import type { CoreObject } from '../../domain/core/core-object.ts'
import type {
  CoreObjectReader,
  DeletedCoreObjects,
  MergedAway,
  MissingAttribute,
} from '../../domain/core/core-object-store.ts'
import { chunk } from '../../kernel/chunk.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { batchedDocumentReads, readFew } from '../batched-reads.ts'
import {
  type QueryParameters,
  queryAll,
  queryDocuments,
  type Stored,
  sqlParameters,
  WHOLE_DOCUMENTS_PER_PAGE_COUNT,
} from '../documents.ts'
import { readPage, readValues } from '../keyset-page.ts'
import { type VersionedWrite, writeVersioned } from '../versioned-writes.ts'
import { type CoreObjectDocument, coreObject, parseCoreObject } from './core-object-document.ts'
import { matchingCoreObjects, searchTexts } from './core-object-search.ts'

const DAY_S = 24 * 60 * 60

/** The size of the largest list page, so that one response holds a page by ids unless it exceeds the size limit. */
const DOCUMENTS_PER_RESPONSE_COUNT = 5000

/** A query with its parameters has at most 512 KB. */
const IDS_PER_QUERY_COUNT = 5000

/** Container `coreObjects`, partition key `/tenantId`. Soft-deleted documents have a `ttl`. */
export function cosmosCoreObjectStore(
  container: Container,
): CoreObjectReader & CoreObjectWriter & UnresolvedReferenceReader {
  const read = batchedDocumentReads<CoreObjectDocument>(container)
  const find = (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return queryAll<CoreObjectDocument>(container, tenantId, query, { maxItemCount: DOCUMENTS_PER_RESPONSE_COUNT })
  }
  const findLive = async (...query: Parameters<typeof find>): Promise<CoreObject[]> =>
    (await find(...query))
      .filter(({ deleted }) => !deleted)
      .map(coreObject)
      .sort((left, right) => (left.id < right.id ? -1 : 1))
  return {
    liveIds: (tenantId, after, size) =>
      readValues(container, tenantId, { property: 'c.id', where: 'c.deleted = false', after, size }),
    async mergedOfIds(tenantId, ids) {
      const merged = (document: CoreObjectDocument) => ({ value: parseCoreObject(document), version: document._etag })
      const few = await readFew<CoreObjectDocument>(container, tenantId, ids)
      if (few !== undefined) return few.map(merged)
      const query = { query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', parameters: sqlParameters({ ids }) }
      const options = { maxItemCount: WHOLE_DOCUMENTS_PER_PAGE_COUNT }
      const found: Versioned<MergedCoreObject>[] = []
      for await (const documents of queryDocuments<CoreObjectDocument>(container, tenantId, query, options)) {
        found.push(...documents.map(merged))
      }
      return found
    },
    write: (tenantId, writes, softDeletionDays) =>
      writeVersioned(
        container,
        tenantId,
        writes.values().map((write) => documentWrite(tenantId, write, softDeletionDays)),
      ),
    claimsTo: (tenantId, accounts) => claimsTo(container, tenantId, accounts),
    async unmetClaims(tenantId) {
      const rows = await queryAll<ClaimRow>(container, tenantId, {
        query: `SELECT ${CLAIM} FROM c WHERE IS_DEFINED(c.claimedAccount) AND c.deleted = false`,
      })
      return rows.map(accountClaim)
    },
    async withUnresolved(tenantId, connectorId, after, size) {
      const page = await readPage<CoreObjectDocument>(container, tenantId, {
        where: UNRESOLVED_OF,
        parameters: [{ name: '@connectorId', value: connectorId }],
        after,
        size,
      })
      return { ...page, items: page.items.map(parseCoreObject) }
    },
    async countUnresolved(tenantId, connectorId) {
      const query = `SELECT c.unresolved FROM c WHERE ${UNRESOLVED_OF}`
      const parameters = sqlParameters({ connectorId })
      const rows = await queryAll<Pick<MergedCoreObject, 'unresolved'>>(container, tenantId, { query, parameters })
      return rows
        .flatMap(({ unresolved = [] }) => unresolved)
        .filter((reference) => reference.connectorId === connectorId).length
    },
    async find(tenantId, objectType, id) {
      const document = await read(tenantId, id)
      const exists = document?.deleted === false && document.objectType === objectType
      return exists ? coreObject(document) : undefined
    },
    async ofIds(tenantId, objectType, ids) {
      if (ids.length === 0) return []
      return (await findLive(tenantId, 'ARRAY_CONTAINS(@ids, c.id)', { ids })).filter(
        (object) => object.objectType === objectType,
      )
    },
    async page(tenantId, objectType, after, size, missing) {
      const page = await readPage<CoreObjectDocument>(container, tenantId, {
        where: ['c.objectType = @objectType AND c.deleted = false', ...withoutAttribute(missing)].join(' AND '),
        parameters: [{ name: '@objectType', value: objectType }],
        after,
        size,
      })
      return { ...page, items: page.items.map(coreObject) }
    },
    async relationshipsOf(tenantId, end, ids) {
      if (ids.length === 0) return []
      return findLive(tenantId, `ARRAY_CONTAINS(@ids, c.attributes.${end}.objectId)`, { ids })
    },
    search: (tenantId, objectType, text, among, limit) =>
      matchingCoreObjects(container, tenantId, { objectType, text, among, limit }),
  }
}

/** An attribute without a value is not stored. */
function withoutAttribute(missing: MissingAttribute | undefined): string[] {
  return missing === undefined ? [] : [`NOT IS_DEFINED(c.attributes.${missing})`]
}

/** Few objects have the property, which is indexed; of these, nearly all have references of one connector. */
const UNRESOLVED_OF = 'IS_DEFINED(c.unresolvedIn) AND CONTAINS(c.unresolvedIn, @connectorId) AND c.deleted = false'

type ClaimRow = { readonly id: string; readonly held?: string; readonly claimed?: string; readonly sinceMs?: number }

const CLAIM = 'c.id, c.attributes.directoryObjectId AS held, c.claimedAccount AS claimed, c.accountSinceMs AS sinceMs'

function accountClaim({ id, held, claimed, sinceMs = 0 }: ClaimRow): AccountClaim {
  return { identityId: id, directoryObjectId: claimed ?? held ?? '', sinceMs, isHolder: claimed === undefined }
}

/** Two queries, because each uses its own index; one query with OR would use neither. */
async function claimsTo(container: Container, tenantId: string, accounts: readonly string[]): Promise<AccountClaim[]> {
  if (accounts.length === 0) return []
  const found = await Promise.all(
    ['c.attributes.directoryObjectId', 'c.claimedAccount'].map((property) =>
      queryAll<ClaimRow>(
        container,
        tenantId,
        {
          query: `SELECT ${CLAIM} FROM c WHERE ARRAY_CONTAINS(@accounts, ${property}) AND c.objectType = 'identity'
            AND c.deleted = false`,
          parameters: [{ name: '@accounts', value: [...accounts] }],
        },
        { maxItemCount: DOCUMENTS_PER_RESPONSE_COUNT },
      ),
    ),
  )
  return found.flat().map(accountClaim)
}

function documentWrite(
  tenantId: string,
  { object, version, keptS = 0 }: CoreObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  const { objectType, attributes, deleted } = object
  const ttl = Math.max(softDeletionDays * DAY_S, keptS)
  const byState = deleted ? { ttl } : { search: searchTexts(objectType, attributes) }
  const unresolvedIn = [...new Set((object.unresolved ?? []).map(({ connectorId }) => connectorId))].join()
  const document = { ...object, tenantId, ...byState, ...(unresolvedIn !== '' && { unresolvedIn }) }
  return { document: document as unknown as VersionedWrite['document'], version }
}

/** Reads the soft-deleted documents of the same container. */
export function cosmosDeletedCoreObjects(container: Container): DeletedCoreObjects {
  /** @param query With the parameter `@ids`. */
  const find = async <T extends object>(tenantId: string, query: string, ids: readonly string[]): Promise<T[]> => {
    const found: T[][] = []
    for (const batch of chunk(ids, IDS_PER_QUERY_COUNT)) {
      const parameters = sqlParameters({ ids: batch })
      found.push(await queryAll<T>(container, tenantId, { query, parameters }))
    }
    return found.flat()
  }
  return {
    mergedInto(tenantId, ids) {
      const query = 'SELECT c.id, c.mergedInto FROM c WHERE ARRAY_CONTAINS(@ids, c.mergedInto) AND c.deleted = true'
      return find<Stored<MergedAway>>(tenantId, query, ids)
    },
    async ofIds(tenantId, ids) {
      const query = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = true'
      const found = await find<CoreObjectDocument>(tenantId, query, ids)
      return found.map((document) => {
        const { mergedInto } = parseCoreObject(document)
        const { ttl, _ts: writtenAtS } = document
        return {
          ...coreObject(document),
          ...(mergedInto !== undefined && { mergedInto }),
          ...(ttl !== undefined && { expiresAtMs: (writtenAtS + ttl) * 1000 }),
        }
      })
    },
  }
}
