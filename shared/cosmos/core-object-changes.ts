import type { Container } from '@azure/cosmos'
import type { CoreObject } from '../domain/core/core-object.ts'
import type { ChangeMark, CoreObjectChanges } from '../domain/core/core-object-changes.ts'
import { queryDocuments, type Stored } from './documents.ts'

/** `_ts` counts whole seconds and is given before a write is visible: what was written so shortly before comes again. */
const OVERLAP_S = 5

const OBJECTS_PER_PAGE_COUNT = 2000

/** Container `coreObjects`, partition key `/tenantId`, read in the order in which it changes. */
export function cosmosCoreObjectChanges(coreObjects: Container): CoreObjectChanges {
  return {
    async *since(tenantId, mark) {
      const query = mark === undefined ? 'SELECT * FROM c' : 'SELECT * FROM c WHERE c._ts >= @since'
      const parameters = mark === undefined ? [] : [{ name: '@since', value: mark.seenUntilS - OVERLAP_S }]
      let seenUntilS = mark?.seenUntilS ?? 0
      const pages = queryDocuments<Stored<CoreObject>>(
        coreObjects,
        tenantId,
        { query, parameters },
        {
          maxItemCount: OBJECTS_PER_PAGE_COUNT,
        },
      )
      for await (const documents of pages) {
        for (const { _ts } of documents) seenUntilS = Math.max(seenUntilS, _ts)
        yield { objects: documents.map(coreObjectOf), mark: { seenUntilS } satisfies ChangeMark }
      }
    },
  }
}

function coreObjectOf({ id, objectType, externalId, attributes, deleted, _ts }: Stored<CoreObject>): CoreObject {
  return { id, objectType, externalId, attributes, deleted: deleted === true, lastUpdatedS: _ts }
}
