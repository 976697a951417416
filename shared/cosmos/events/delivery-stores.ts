import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { nextDueMs, StoredDelivery } from '../../domain/events/delivery.ts'
import type { DeliveryBatch, DeliveryStore, Lane, LaneStore, PublishedStore } from '../../domain/events/event-stores.ts'
import { chunk } from '../../kernel/chunk.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { Nullable } from '../../kernel/schema.ts'
import { readFew } from '../batched-reads.ts'
import { SECONDS_PER_DAY } from '../change-document.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import {
  countDocuments,
  createUnlessExists,
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  queryDocuments,
  readDocument,
  type Stored,
  savedVersion,
  sqlParameters,
  writeTogether,
} from '../documents.ts'

const DELIVERIES_KEPT_S = 30 * SECONDS_PER_DAY
/** About 60 KB each. */
const BATCHES_PER_READ_COUNT = 10
const WRITES_AT_ONCE_COUNT = 4

const batches = versionedDocumentParser(
  'batch of deliveries',
  Type.Object({
    id: Type.String(),
    tenantId: Type.String(),
    subscriptionId: Type.String(),
    createdAt: Type.String(),
    position: Type.Number(),
    deliveries: Type.Array(StoredDelivery),
  }),
)

/** `dueAtMs` is absent when no attempt is due any more. */
function batchDocument(batch: DeliveryBatch) {
  const { id, tenantId, subscriptionId, createdAt, position, deliveries } = batch
  const dueAtMs = nextDueMs(deliveries)
  return {
    ...{ id, tenantId, subscriptionId, createdAt, position, deliveries },
    ...(dueAtMs === undefined ? {} : { dueAtMs }),
    ttl: DELIVERIES_KEPT_S,
  }
}

/** Container `events`, partition key `/tenantId`. */
export function cosmosDeliveryStore(events: Container): DeliveryStore {
  return {
    async add(_tenantId, added) {
      await forEachConcurrent(added, WRITES_AT_ONCE_COUNT, async (batch) => {
        await createUnlessExists(events, batchDocument(batch))
      })
    },
    async lastPosition(tenantId, subscriptionId) {
      const [position = 0] = await queryAll<number>(events, tenantId, {
        query: 'SELECT TOP 1 VALUE c.position FROM c WHERE c.subscriptionId = @subscriptionId ORDER BY c.position DESC',
        parameters: sqlParameters({ subscriptionId }),
      })
      return position
    },
    async due(tenantId, subscriptionId, nowMs) {
      const found = await queryAll<unknown>(events, tenantId, {
        query: `SELECT TOP ${BATCHES_PER_READ_COUNT} * FROM c WHERE c.subscriptionId = @subscriptionId AND c.dueAtMs <= @nowMs ORDER BY c.position`,
        parameters: sqlParameters({ subscriptionId, nowMs }),
      })
      return found.map(batches.parse)
    },
    async replace(batch, version) {
      await savedVersion(events, batch.tenantId, batchDocument(batch), version)
    },
    async *newestFirst(tenantId, subscriptionId, toPosition) {
      const [isBefore, position] =
        toPosition === undefined ? ['', {}] : [' AND c.position <= @toPosition', { toPosition }]
      const query = {
        query: `SELECT * FROM c WHERE c.subscriptionId = @subscriptionId AND IS_DEFINED(c.position)${isBefore} ORDER BY c.position DESC`,
        parameters: sqlParameters({ subscriptionId, ...position }),
      }
      const options = { maxItemCount: BATCHES_PER_READ_COUNT }
      for await (const page of queryDocuments<unknown>(events, tenantId, query, options)) {
        yield page.map((document) => batches.parse(document).value)
      }
    },
    waitingCount(tenantId, subscriptionId) {
      const waiting = 'IS_DEFINED(c.dueAtMs)'
      if (subscriptionId === undefined) return countDocuments(events, tenantId, waiting)
      return countDocuments(events, tenantId, `${waiting} AND c.subscriptionId = @subscriptionId`, { subscriptionId })
    },
    async longestWaiting(tenantId, count) {
      const query = 'SELECT TOP @count * FROM c WHERE IS_DEFINED(c.dueAtMs) ORDER BY c.position'
      const found = await queryAll<unknown>(events, tenantId, { query, parameters: sqlParameters({ count }) })
      return found.map(batches.parse)
    },
    async subscriptionsDue(tenantId, beforeMs) {
      const found = await queryAll<string>(events, tenantId, {
        query: 'SELECT DISTINCT VALUE c.subscriptionId FROM c WHERE c.dueAtMs <= @beforeMs',
        parameters: sqlParameters({ beforeMs }),
      })
      return new Set(found)
    },
    async removeAll(tenantId, subscriptionId) {
      const ids = await queryAll<string>(events, tenantId, {
        query: 'SELECT VALUE c.id FROM c WHERE c.subscriptionId = @subscriptionId AND IS_DEFINED(c.position)',
        parameters: sqlParameters({ subscriptionId }),
      })
      for (const ofBatch of chunk(ids, OPERATIONS_PER_BATCH_COUNT)) {
        // What expires or is deleted meanwhile is left for the next time.
        await writeTogether(
          events,
          tenantId,
          ofBatch.map((id) => ({ operationType: 'Delete', id })),
        )
      }
    },
  }
}

const lanes = versionedDocumentParser(
  'state of a receiver',
  Type.Object({
    subscriptionId: Type.String(),
    owner: Nullable(Type.String()),
    untilMs: Type.Number(),
    failingSinceMs: Type.Optional(Type.Number()),
  }),
)

/** Container `events`. It is kept as long as deliveries are. */
export function cosmosLaneStore(events: Container): LaneStore {
  const idOf = (subscriptionId: string) => `lane:${subscriptionId}`
  return {
    async find(tenantId, subscriptionId) {
      const document = await readDocument<object & { id: string }>(events, idOf(subscriptionId), tenantId)
      if (document === undefined) return undefined
      const { value, version } = lanes.parse(document)
      const { owner, untilMs, failingSinceMs } = value
      const lane: Lane = { subscriptionId, owner, untilMs, ...(failingSinceMs === undefined ? {} : { failingSinceMs }) }
      return { value: lane, version }
    },
    save(tenantId, lane, version) {
      const document = { ...lane, id: idOf(lane.subscriptionId), tenantId, ttl: DELIVERIES_KEPT_S }
      return savedVersion(events, tenantId, document, version)
    },
  }
}

type PublishedDocument = { readonly id: string }

const published = versionedDocumentParser(
  'record of published changes',
  Type.Object({ collectionId: Type.String(), membershipVersion: Type.Integer(), atMs: Type.Number() }),
)

/** Container `events`. @param keptDays as long as the history of members. */
export function cosmosPublishedStore(events: Container, keptDays: number): PublishedStore {
  const idOf = (collectionId: string) => `published:${collectionId}`

  async function documentsOf(tenantId: string, ids: readonly string[] | undefined) {
    if (ids === undefined) {
      const query = 'SELECT * FROM c WHERE IS_DEFINED(c.membershipVersion)'
      return queryAll<Stored<PublishedDocument>>(events, tenantId, { query })
    }
    const few = await readFew<PublishedDocument>(events, tenantId, ids)
    if (few !== undefined) return few
    const query = { query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', parameters: sqlParameters({ ids }) }
    return queryAll<Stored<PublishedDocument>>(events, tenantId, query)
  }

  return {
    async find(tenantId, collectionIds) {
      const found = (await documentsOf(tenantId, collectionIds?.map(idOf))).map(published.parse)
      return new Map(
        found.map(({ value: { collectionId, membershipVersion, atMs }, version }) => [
          collectionId,
          { value: { membershipVersion, atMs }, version },
        ]),
      )
    },
    save(tenantId, collectionId, to, version) {
      const document = { ...to, id: idOf(collectionId), tenantId, collectionId, ttl: keptDays * SECONDS_PER_DAY }
      return savedVersion(events, tenantId, document, version)
    },
  }
}
