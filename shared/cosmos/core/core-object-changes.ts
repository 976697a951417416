import type { Container } from '@azure/cosmos'
import type { MergedCoreObject } from '../../domain/connectors/merged-core-object.ts'
import type { AccountChange, AccountChangeStore } from '../../domain/core/core-object-store.ts'
import type { ChangeMark, CoreObjectChanges, ReadWrite } from '../../domain/tenant-index/core-object-changes.ts'
import type { SnapshotObject } from '../../domain/tenant-index/rows/apply-objects.ts'
import { derivedId } from '../derived-id.ts'
import { countDocuments, queryAll, queryDocuments, type Stored, WHOLE_DOCUMENTS_PER_PAGE_COUNT } from '../documents.ts'

/**
 * `_ts` is in whole seconds and is set before a write becomes visible. Each read therefore repeats the last seconds.
 */
const OVERLAP_S = 5

/** The overlap when the store's clock is estimated from the elapsed time. */
const OVERLAP_BY_TIME_S = 15

/** Each sweep reads the writes that an evaluation has named. For more, one further evaluation costs less. */
const MAX_VERSIONS_COUNT = 5

/** Half of the shortest retention of deleted objects that a connector can set, which is a day. */
const DELETIONS_KEPT_MS = 12 * 60 * 60 * 1000

/**
 * Reads changes of container `coreObjects`, partition key `/tenantId`. The mark advances with time, so that calls do
 * not read the last burst of writes again. Documents are not parsed with a schema, because 3.5 µs for each would make
 * the loading of a tenant a sixth slower.
 * @param elapsedMs A monotonic clock.
 */
export function cosmosCoreObjectChanges(coreObjects: Container, elapsedMs: () => number): CoreObjectChanges {
  return {
    remembersSince: ({ readAtMs }) => elapsedMs() - readAtMs < DELETIONS_KEPT_MS,
    async *since(tenantId, mark) {
      const startedMs = elapsedMs()
      const readFromS = mark === undefined ? 0 : storeClockS(mark, startedMs)
      let current: ChangeMark = {
        seenUntilS: 0,
        seenAtMs: startedMs,
        firstSeenS: 0,
        ...mark,
        readFromS,
        readAtMs: startedMs,
        latest: mark?.latest ?? [],
      }
      let isFirst = true
      const query = mark === undefined ? 'SELECT * FROM c' : 'SELECT * FROM c WHERE c._ts >= @since'
      const parameters = mark === undefined ? [] : [{ name: '@since', value: startS(mark) }]
      const options = { maxItemCount: WHOLE_DOCUMENTS_PER_PAGE_COUNT }
      const pages = queryDocuments<ChangedDocument>(coreObjects, tenantId, { query, parameters }, options)
      for await (const documents of pages) {
        const latestS = documents.reduce((latest, { _ts }) => Math.max(latest, _ts), 0)
        if (latestS > current.seenUntilS) {
          const clock = { seenUntilS: latestS, seenAtMs: elapsedMs() }
          current = { ...current, ...clock, readFromS: Math.max(current.readFromS, storeClockS(clock, startedMs)) }
        }
        // Objects of earlier pages can change while later pages are read. The query misses these writes, which can be
        // older than the latest object of a later page.
        if (isFirst) current = { ...current, firstSeenS: Math.max(current.firstSeenS, latestS) }
        isFirst = false
        current = { ...current, latest: latestOf(current.latest, documents) }
        yield { objects: documents.map(changedObject), mark: current }
      }
      yield { objects: [], mark: current }
    },
    includedWrites(mark) {
      const sinceS = startS(mark)
      const recent = mark.latest.filter(({ writtenAtS }) => writtenAtS >= sinceS)
      if (recent.length > MAX_VERSIONS_COUNT) return undefined
      return { sinceS, versions: recent.map(({ version }) => version) }
    },
    count: (tenantId) => countDocuments(coreObjects, tenantId),
  }
}

/** A lower bound of the store's clock in seconds at `atMs` of this process's clock. */
function storeClockS({ seenUntilS, seenAtMs }: Pick<ChangeMark, 'seenUntilS' | 'seenAtMs'>, atMs: number): number {
  return seenUntilS + Math.floor((atMs - seenAtMs) / 1000)
}

/** The time from which the next read starts: a read includes all writes before its start, which two clocks estimate. */
function startS({ firstSeenS, readFromS }: ChangeMark): number {
  return Math.max(firstSeenS - OVERLAP_S, readFromS - OVERLAP_BY_TIME_S)
}

/** One more than are named, so that it is known when there are too many. Of those left out, none is later. */
function latestOf(before: readonly ReadWrite[], read: readonly Stored<object>[]): readonly ReadWrite[] {
  const oldestS = before[MAX_VERSIONS_COUNT]?.writtenAtS ?? 0
  const latest = new Map(before.map((write) => [write.version, write]))
  for (const { _etag: version, _ts: writtenAtS } of read) {
    if (writtenAtS >= oldestS) latest.set(version, { version, writtenAtS })
  }
  return [...latest.values()].sort((left, right) => right.writtenAtS - left.writtenAtS).slice(0, MAX_VERSIONS_COUNT + 1)
}

type ChangedDocument = Stored<SnapshotObject & Pick<MergedCoreObject, 'unresolved'>>

function changedObject(document: ChangedDocument): SnapshotObject {
  const { id, objectType, externalId, deleted, mergedInto, restored, _etag: version } = document
  return {
    id,
    objectType,
    externalId,
    attributes: withExpectedHolder(document),
    deleted: deleted === true,
    version,
    ...(mergedInto !== undefined && { mergedInto }),
    ...(restored && { restored }),
  }
}

/**
 * The rows of a position whose holder is not known yet name an identity that never exists, one for all positions of the
 * missing person: the expected core object can be carried by another person. Those of a vacancy name none.
 */
function withExpectedHolder({ attributes, objectType, unresolved }: ChangedDocument): SnapshotObject['attributes'] {
  if (unresolved === undefined || objectType !== 'relationship' || attributes.identity !== undefined) return attributes
  const holder = unresolved.find(({ attribute, isDeleted }) => attribute === 'identity' && !isDeleted)
  if (holder?.expectedId === undefined) return attributes
  return { ...attributes, identity: { objectId: derivedId('expected holder', holder.expectedId) } }
}

const CHANGED_SINCE = `SELECT c.id, c.objectType, c.accountChangedAtMs AS changedAtMs FROM c
  WHERE c.accountChangedAtMs >= @sinceMs`

/** Cosmos limits a query to 512 KB. For more ids, all account changes are read. */
const IDS_PER_QUERY_COUNT = 2000

/** Container `coreObjects`, partition key `/tenantId`. Few documents have `accountChangedAtMs`, which is indexed. */
export function cosmosAccountChangeStore(coreObjects: Container): AccountChangeStore {
  const since = (tenantId: string, sinceMs: number): Promise<AccountChange[]> => {
    const parameters = [{ name: '@sinceMs', value: sinceMs }]
    return queryAll<AccountChange>(coreObjects, tenantId, { query: CHANGED_SINCE, parameters })
  }
  return {
    since,
    async amongSince(tenantId, ids, sinceMs) {
      if (ids.length === 0) return []
      if (ids.length > IDS_PER_QUERY_COUNT) {
        const wanted = new Set(ids)
        return (await since(tenantId, sinceMs)).filter(({ id }) => wanted.has(id))
      }
      const query = `${CHANGED_SINCE} AND ARRAY_CONTAINS(@ids, c.id)`
      const parameters = [
        { name: '@sinceMs', value: sinceMs },
        { name: '@ids', value: [...ids] },
      ]
      return queryAll<AccountChange>(coreObjects, tenantId, { query, parameters })
    },
  }
}
