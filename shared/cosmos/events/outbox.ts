import type { Container, OperationInput } from '@azure/cosmos'
import { Type } from 'typebox'
import type { EventSource, OutboxStore } from '../../domain/events/event-stores.ts'
import { type EventDraft, eventOf, type StoredEvent } from '../../domain/events/event-types.ts'
import { chunk } from '../../kernel/chunk.ts'
import { enqueuePublishing } from '../../kernel/enqueue-messages.ts'
import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { derivedId } from '../derived-id.ts'
import { documentParser } from '../document-parser.ts'
import {
  deleteTogether,
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  queryPartitions,
  type Stored,
  sqlParameters,
} from '../documents.ts'

/** Stores the events of a change in its transaction, where anybody would receive them. */
export type Outbox = {
  /** The operations of the transaction, at most one; none without events or without anybody who receives them. */
  prepare(tenantId: string, events: readonly EventDraft[]): Promise<OperationInput[]>
  /** Has the events published, after the transaction. A failure is logged: the sweep publishes them later. */
  notify(
    source: EventSource,
    tenantId: string,
    operations: readonly OperationInput[],
    collectionId?: string,
  ): Promise<void>
}

/** For stores whose changes publish no events. */
export const NO_OUTBOX: Outbox = { prepare: async () => [], notify: async () => undefined }

type OutboxDependencies = {
  /** Whether anybody receives one of these events of the tenant. */
  isWanted(tenantId: string, events: readonly EventDraft[]): Promise<boolean>
  readonly messageQueue: MessageQueue
  readonly log: Log
  newId(): string
}

/** The outbox of the stores of tenants' records. */
export function cosmosOutbox({ isWanted, messageQueue, log, newId }: OutboxDependencies): Outbox {
  return {
    async prepare(tenantId, events) {
      if (events.length === 0 || !(await isWanted(tenantId, events))) return []
      return [outboxOperation(tenantId, events)]
    },
    async notify(source, tenantId, operations, collectionId) {
      if (operations.length === 0 && collectionId === undefined) return
      const published = { tenantId, source, ...(collectionId === undefined ? {} : { collectionIds: [collectionId] }) }
      try {
        await enqueuePublishing(published, newId(), { messageQueue })
      } catch (error) {
        log.error('events.enqueue-failed', error, { tenantId, source })
      }
    },
  }
}

/** The document with the events of a change. Queries for other documents name properties that it lacks. */
export function outboxOperation(tenantId: string, drafts: readonly EventDraft[]): OperationInput {
  const events = drafts.map((draft) => eventOf(draft, tenantId, derivedId))
  const id = `outbox:${events[0]?.id}`
  // The unique key of container `links` allows one document per tenant without a value.
  const resourceBody = { id, tenantId, directoryGroupId: id, isOutbox: true, entry: JSON.stringify(events) }
  // The same change written twice tells the same.
  return { operationType: 'Upsert', resourceBody }
}

const parse = documentParser('outbox entry', Type.Object({ id: Type.String(), entry: Type.String() }))

/** Entries that are published at a time, and more if they were written in one second. */
const ENTRIES_COUNT = 50

/** Reads the entries of several containers with partition key `/tenantId`. */
export function cosmosOutboxStore(container: (source: EventSource) => Container, nowMs: () => number): OutboxStore {
  /** Whole seconds, the first ones: the order within a second is that of the events. */
  async function firstDocuments(source: EventSource, tenantId: string): Promise<Stored<object>[]> {
    const query = `SELECT TOP ${ENTRIES_COUNT} * FROM c WHERE c.isOutbox = true ORDER BY c._ts`
    const found = await queryAll<Stored<object>>(container(source), tenantId, { query })
    const lastS = found.at(-1)?._ts
    if (found.length < ENTRIES_COUNT || lastS === undefined) return found
    const ofLastSecond = await queryAll<Stored<object>>(container(source), tenantId, {
      query: 'SELECT * FROM c WHERE c.isOutbox = true AND c._ts = @lastS',
      parameters: sqlParameters({ lastS }),
    })
    return [...found.filter(({ _ts }) => _ts < lastS), ...ofLastSecond]
  }

  return {
    async first(source, tenantId) {
      const entries = (await firstDocuments(source, tenantId)).map((document) => {
        const { id, entry } = parse(document)
        return { id, atS: document._ts, events: JSON.parse(entry) as StoredEvent[] }
      })
      // Within a second, by the clock of those who wrote.
      return entries.sort((left, right) => left.atS - right.atS || compareTimes(left.events, right.events))
    },
    async remove(source, tenantId, entries) {
      const ids = entries.map(({ id }) => id)
      // In order: of events of one subject, the last ones are published again when the process ends in between.
      for (const first of chunk(ids, OPERATIONS_PER_BATCH_COUNT)) {
        await deleteTogether(container(source), tenantId, first)
      }
    },
    async tenantsBehind(source, forMs) {
      const query = 'SELECT VALUE c.tenantId FROM c WHERE c.isOutbox = true AND c._ts <= @beforeS'
      const parameters = sqlParameters({ beforeS: Math.floor((nowMs() - forMs) / 1000) })
      return new Set(await queryPartitions<string>(container(source), { query, parameters }))
    },
  }
}

function compareTimes([left]: readonly StoredEvent[], [right]: readonly StoredEvent[]): number {
  const [first = '', second = ''] = [left?.time, right?.time]
  return first < second ? -1 : Number(first > second)
}
