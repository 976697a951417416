import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { CollectionSummary } from '../../domain/collections/collection-dependencies.ts'
import type { PublishedTo, RecordedChanges } from '../../domain/events/event-stores.ts'
import { type ChangeOfVersion, SINGLE_EVENTS_COUNT } from '../../domain/events/member-events.ts'
import { CHANGE_TYPE, changesIn, PART_TYPE, parseChange, type StoredChange } from '../change-document.ts'
import { documentParser } from '../document-parser.ts'
import { queryAll, queryDocuments, sqlParameters } from '../documents.ts'
import { headVersions } from '../members/head-versions.ts'
import { membersPartition } from '../members/membership-plan.ts'

/** Changes per response: one has up to 10,000 ids, and most have few. */
const CHANGES_PER_PAGE_COUNT = 20

type Causes = Pick<StoredChange, 'causes'>

const parseJoinedVersion = documentParser(
  'head of members',
  Type.Object({ collectionId: Type.String(), membershipVersion: Type.Integer() }),
)

/** The changes of criteria collections in container `members`, and those of joinable ones in container `requests`. */
export function cosmosRecordedChanges(members: Container, requests: Container): RecordedChanges {
  const placeOf = (tenantId: string, { id, kind }: CollectionSummary) =>
    kind === 'criteria'
      ? { container: members, partition: membersPartition(tenantId, id), where: '' }
      : { container: requests, partition: tenantId, where: 'c.collectionId = @collectionId AND ' }

  /** The ids of a large change are in parts, with the causes of each. */
  async function causesOf(change: StoredChange, partition: string): Promise<Causes['causes']> {
    if (change.partsOf === undefined) return change.causes
    const parts = await queryAll<Causes>(members, partition, {
      query: 'SELECT * FROM c WHERE c.type = @type AND c.partsOf = @partsOf',
      parameters: sqlParameters({ type: PART_TYPE, partsOf: change.partsOf }),
    })
    return parts.flatMap(({ causes }) => causes)
  }

  async function recorded(change: StoredChange, partition: string): Promise<ChangeOfVersion> {
    const causes = await causesOf(change, partition)
    const addedCount = causes.reduce((sum, cause) => sum + cause.addedCount, 0)
    const removedCount = causes.reduce((sum, cause) => sum + cause.removedCount, 0)
    const isSingle = addedCount + removedCount <= SINGLE_EVENTS_COUNT
    const { membershipVersion, atMs } = change
    return { membershipVersion, atMs, addedCount, removedCount, changes: isSingle ? changesIn(change) : [] }
  }

  return {
    async next(tenantId, collection, after: PublishedTo, sinceMs) {
      const { container, partition, where } = placeOf(tenantId, collection)
      const isNext = '(c.membershipVersion > @version OR c.atMs > @atMs) AND c.atMs >= @sinceMs'
      const query = {
        query: `SELECT * FROM c WHERE ${where}c.type = @type AND ${isNext} ORDER BY c.membershipVersion`,
        parameters: sqlParameters({
          ...(where === '' ? {} : { collectionId: collection.id }),
          type: CHANGE_TYPE,
          version: after.membershipVersion,
          atMs: after.atMs,
          sinceMs,
        }),
      }
      const found: ChangeOfVersion[] = []
      let count = 0
      const pages = queryDocuments<object>(container, partition, query, { maxItemCount: CHANGES_PER_PAGE_COUNT })
      for await (const page of pages) {
        for (const change of page.map(parseChange)) {
          const next = await recorded(change, partition)
          found.push(next)
          // A larger change is one event.
          count += Math.max(
            1,
            next.changes.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0),
          )
          if (count >= SINGLE_EVENTS_COUNT) return { changes: found, isMore: true }
        }
      }
      return { changes: found, isMore: false }
    },
    async versions(tenantId, kind, collectionIds) {
      if (kind === 'criteria') return headVersions(members, tenantId, collectionIds)
      const query = "SELECT c.collectionId, c.membershipVersion FROM c WHERE c.type = 'head'"
      const heads = (await queryAll<object>(requests, tenantId, { query })).map(parseJoinedVersion)
      return new Map(heads.map(({ collectionId, membershipVersion }) => [collectionId, membershipVersion]))
    },
  }
}
