import type { Container } from '@azure/cosmos'
import type { CoreObjectWrite, CoreObjectWriter } from '../domain/connectors/settle-core-objects.ts'
import type { CoreObject } from '../domain/core/core-object.ts'
import type { CoreObjectReader } from '../domain/core/core-object-reader.ts'
import type { FormerCoreObjects } from '../domain/core/former-core-objects.ts'
import { type CoreObjectDocument, parsedCoreObject, parsedMerged } from './core-object-document.ts'
import { searchCoreObjectDocuments, searchTexts } from './core-object-search.ts'
import { catchUp, type QueryParameters, queryAll, sqlParameters } from './documents.ts'
import { readPage } from './keyset-page.ts'
import { type VersionedWrite, writeVersioned } from './versioned-writes.ts'

const DAY_S = 24 * 60 * 60

/** As many as a page of a list may have: a page by ids comes in one answer, if it is not too large for one. */
const DOCUMENTS_PER_ANSWER_COUNT = 5000

/** Container `coreObjects`, partition key `/tenantId`; deleted documents stay for a while, with a `ttl`. */
export function cosmosCoreObjectStore(container: Container): CoreObjectReader & CoreObjectWriter {
  const find = (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return queryAll<CoreObjectDocument>(container, tenantId, query, { maxItemCount: DOCUMENTS_PER_ANSWER_COUNT })
  }
  const findLive = async (...query: Parameters<typeof find>): Promise<CoreObject[]> =>
    (await find(...query))
      .filter(({ deleted }) => !deleted)
      .map(parsedCoreObject)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
  return {
    catchUp: (tenantId) => catchUp(container, tenantId),
    async mergedOfIds(tenantId, ids) {
      if (ids.length === 0) return []
      const documents = await find(tenantId, 'ARRAY_CONTAINS(@ids, c.id)', { ids })
      return documents.map((document) => ({ value: parsedMerged(document), version: document._etag }))
    },
    write: (tenantId, writes, softDeletionDays) =>
      writeVersioned(
        container,
        tenantId,
        writes.map((write) => documentWrite(tenantId, write, softDeletionDays)),
      ),
    async ofIds(tenantId, objectType, ids) {
      if (ids.length === 0) return []
      return (await findLive(tenantId, 'ARRAY_CONTAINS(@ids, c.id)', { ids })).filter(
        (object) => object.objectType === objectType,
      )
    },
    async page(tenantId, objectType, after, size) {
      const page = await readPage<CoreObjectDocument>(container, tenantId, {
        where: 'c.objectType = @objectType AND c.deleted = false',
        parameters: [{ name: '@objectType', value: objectType }],
        after,
        size,
      })
      return { ...page, items: page.items.map(parsedCoreObject) }
    },
    async relationshipsOf(tenantId, end, ids) {
      if (ids.length === 0) return []
      return findLive(tenantId, `ARRAY_CONTAINS(@ids, c.attributes.${end}.objectId)`, { ids })
    },
    search: (tenantId, objectType, text, among, limit) =>
      searchCoreObjectDocuments(container, tenantId, { objectType, text, among, limit }),
  }
}

function documentWrite(
  tenantId: string,
  { object, version }: CoreObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  const { objectType, attributes, deleted } = object
  const standing = deleted ? { ttl: softDeletionDays * DAY_S } : { search: searchTexts(objectType, attributes) }
  const document = { ...object, tenantId, ...standing }
  return { document: document as unknown as VersionedWrite['document'], version }
}

/** The same container, for what is soft-deleted. */
export function cosmosFormerCoreObjects(container: Container): FormerCoreObjects {
  return {
    async ofIds(tenantId, ids) {
      if (ids.length === 0) return []
      const query = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = true'
      const parameters = [{ name: '@ids', value: [...ids] }]
      return (await queryAll<CoreObjectDocument>(container, tenantId, { query, parameters })).map(parsedCoreObject)
    },
  }
}
