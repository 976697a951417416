import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { LIVE_STATUSES, type MembershipRequest } from '../../domain/membership-requests/membership-request.ts'
import type {
  ReconciledRequests,
  RequestListQuery,
  RequestLists,
  RequestOutline,
  RequestStore,
  WaitingRequest,
} from '../../domain/membership-requests/request-dependencies.ts'
import { subjectOfKey } from '../../domain/membership-requests/review-keys.ts'
import { chunk } from '../../kernel/chunk.ts'
import { batchedDocumentReads } from '../batched-reads.ts'
import type { HistoryOptions } from '../change-document.ts'
import { compareCreation, firstOfPages, matching, readPageByCreation } from '../creation-page.ts'
import { documentParser } from '../document-parser.ts'
import { DOCUMENTS_PER_PAGE_COUNT, type QueryParameters, queryAll, type Stored, sqlParameters } from '../documents.ts'
import type { Outbox } from '../events/outbox.ts'
import { OUTLINE_PROPERTIES, parseRequest, type RequestDocument, versionedRequest } from './request-document.ts'
import { requestSaver, saveBatches } from './save-requests.ts'

/** Cosmos limits a query to 512 KB. Ids and keys are at most about 100 bytes long. */
const KEYS_PER_QUERY_COUNT = 2000

/** Selects an outline from a slot document. */
const OUTLINE =
  'c.requestId AS id, c.ofCollection AS collectionId, c.holderId AS requesterId, c.position AS relationshipId, ' +
  'c.state AS status, c.policyVersion, c.extensionPolicyVersion'

const WAITING =
  'c.ofCollection AS collectionId, c.holderId AS requesterId, c.position AS relationshipId, c.awaits AS reviewKey'

const parseOutline = documentParser('request outline', Type.Object(OUTLINE_PROPERTIES))
const { collectionId, requesterId, relationshipId } = OUTLINE_PROPERTIES
const parseWaiting = documentParser(
  'waiting request',
  Type.Object({ collectionId, requesterId, relationshipId, reviewKey: Type.String() }),
)

type Query = { readonly where: string; readonly parameters: QueryParameters }

/** Waiting requests under review keys. Only the documents of waiting slots have the property. */
const AWAITED: Query = { where: 'ARRAY_CONTAINS(@keys, c.awaits)', parameters: {} }

const RESTORABLE = 'c.restorableUntilMs > @nowMs'

/** Container `requests`, partition key `/tenantId`. */
export function cosmosRequestStore(
  requests: Container,
  options: HistoryOptions,
  outbox?: Outbox,
): RequestStore & RequestLists & ReconciledRequests {
  const read = batchedDocumentReads<RequestDocument>(requests)
  const find = async <T>(tenantId: string, select: string, { where, parameters }: Query): Promise<T[]> => {
    const spec = { query: `SELECT ${select} FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return queryAll<T>(requests, tenantId, spec, { maxItemCount: DOCUMENTS_PER_PAGE_COUNT })
  }
  /** Runs the query for any number of keys, as the parameter `@keys`, in as many queries as the limit requires. */
  const findByKeys = async <T>(tenantId: string, select: string, keys: readonly string[], query: Query) => {
    const found = chunk(keys, KEYS_PER_QUERY_COUNT).map((batch) =>
      find<T>(tenantId, select, { ...query, parameters: { ...query.parameters, keys: batch } }),
    )
    return (await Promise.all(found)).flat()
  }
  const live = { where: 'ARRAY_CONTAINS(@live, c.status)', parameters: { live: LIVE_STATUSES } }

  return {
    batches: saveBatches,
    save: requestSaver(requests, options, outbox),
    async find(tenantId, requestId) {
      const document = await read(tenantId, requestId)
      return document?.type === 'request' ? versionedRequest(document) : undefined
    },
    async page(tenantId, { newestFirst, ...range }, after, size) {
      const keys = range.waitingUnder ?? range.reader?.reviewKeys ?? []
      const order = { newestFirst, after, size }
      // Without keys there is one query, which no key restricts.
      const pages = await Promise.all(
        (keys.length === 0 ? [[]] : chunk(keys, KEYS_PER_QUERY_COUNT)).map((batch) =>
          readPageByCreation<RequestDocument>(requests, tenantId, { ...listed(range, batch), ...order }),
        ),
      )
      const page = firstOfPages(pages, order)
      return { ...page, items: page.items.map(parseRequest) }
    },
    async submittedOnBehalf(tenantId, submitterId) {
      const where = 'c.submittedBy = @submitterId AND c.requesterId != @submitterId'
      return newestFirst(await find<RequestDocument>(tenantId, '*', { where, parameters: { submitterId } }))
    },
    async liveOf(tenantId, identityId) {
      const found = await find<Stored<RequestDocument>>(tenantId, '*', {
        where: `c.requesterId = @identityId AND ${live.where}`,
        parameters: { ...live.parameters, identityId },
      })
      return found.sort(byCreation).map(versionedRequest)
    },
    async liveIn(tenantId, collectionId, identityIds) {
      const where = `c.collectionId = @collectionId AND ${live.where}`
      const parameters = { ...live.parameters, collectionId }
      const found =
        identityIds === undefined
          ? await find<Stored<RequestDocument>>(tenantId, '*', { where, parameters })
          : await findByKeys<Stored<RequestDocument>>(tenantId, '*', identityIds, {
              where: `ARRAY_CONTAINS(@keys, c.requesterId) AND ${where}`,
              parameters,
            })
      return found.map(versionedRequest)
    },
    async liveOrRestorableIn(tenantId, collectionId, identityIds, nowMs) {
      const found = await findByKeys<Stored<RequestDocument>>(tenantId, '*', identityIds, {
        where: `ARRAY_CONTAINS(@keys, c.requesterId) AND c.collectionId = @collectionId AND (${live.where} OR ${RESTORABLE})`,
        parameters: { ...live.parameters, collectionId, nowMs },
      })
      return found.map(versionedRequest)
    },
    async allWaitingIn(tenantId, collectionId) {
      const found = await find<Stored<RequestDocument>>(tenantId, '*', {
        where: "c.collectionId = @collectionId AND (c.status = 'PendingApproval' OR IS_DEFINED(c.extension))",
        parameters: { collectionId },
      })
      return found.map(versionedRequest)
    },
    async liveOfObjects(tenantId, objectIds) {
      const by = (member: 'requesterId' | 'relationshipId') =>
        findByKeys<Stored<RequestDocument>>(tenantId, '*', objectIds, {
          where: `ARRAY_CONTAINS(@keys, c.${member}) AND ${live.where}`,
          parameters: live.parameters,
        })
      const found = await Promise.all([by('requesterId'), by('relationshipId')])
      return [...new Map(found.flat().map((document) => [document.id, versionedRequest(document)])).values()]
    },
    async restorable(tenantId, nowMs) {
      const found = await find<Stored<RequestDocument>>(tenantId, '*', { where: RESTORABLE, parameters: { nowMs } })
      return found.map(versionedRequest)
    },
    async due(tenantId, untilMs, atMostCount) {
      const where = 'c.dueAtMs <= @untilMs OR c.tellingDueAtMs <= @untilMs'
      const found = await find<Stored<RequestDocument>>(tenantId, `TOP ${atMostCount} *`, {
        where,
        parameters: { untilMs },
      })
      return found.map(versionedRequest)
    },
    async dueTimes(tenantId, untilMs) {
      const times = ['dueAtMs', 'tellingDueAtMs'].map((member) => {
        const query = { where: `c.${member} <= @untilMs`, parameters: { untilMs } }
        return find<number>(tenantId, `DISTINCT VALUE c.${member}`, query)
      })
      return [...new Set((await Promise.all(times)).flat())]
    },
    async liveOutlines(tenantId) {
      const rows = await find<RequestOutline>(tenantId, OUTLINE, { where: "c.type = 'slot'", parameters: {} })
      return rows.map(parseOutline)
    },
    async waiting(tenantId, reviewKeys) {
      const rows = await findByKeys<WaitingRequest>(tenantId, WAITING, reviewKeys, AWAITED)
      return rows.map(parseWaiting)
    },
    async awaitedKeys(tenantId, reviewKeys) {
      return [...new Set(await findByKeys<string>(tenantId, 'DISTINCT VALUE c.awaits', reviewKeys, AWAITED))]
    },
    async waitingIn(tenantId, collectionId, reviewKeys) {
      return newestFirst(await findByKeys<RequestDocument>(tenantId, '*', reviewKeys, waitingIn(collectionId)))
    },
  }
}

function waitingIn(collectionId: string): Query {
  const where = `(${WAITS_UNDER}) AND c.collectionId = @collectionId`
  return { where, parameters: { collectionId } }
}

function newestFirst(documents: readonly RequestDocument[]): MembershipRequest[] {
  return documents.toSorted(byCreation).map(parseRequest)
}

/** The newest first. */
function byCreation(left: RequestDocument, right: RequestDocument): number {
  return compareCreation(right, left)
}

function listed(
  { collectionId, requesterId, status, reader, waitingUnder }: Omit<RequestListQuery, 'newestFirst'>,
  keys: readonly string[],
): Query {
  const { conditions, parameters } = matching({ collectionId, requesterId, status }, LISTED)
  const where = ["c.type = 'request'", ...conditions]
  if (waitingUnder !== undefined) where.push(`(${WAITS_UNDER})`)
  if (reader !== undefined) where.push(`(${READABLE})`)
  const reports = keys.flatMap((key) => subjectOfKey(key) ?? [])
  const who = reader === undefined ? {} : { identityId: reader.identityId, reports }
  const ofKeys = waitingUnder === undefined && reader === undefined ? {} : { keys }
  return { where: where.join(' AND '), parameters: { ...parameters, ...who, ...ofKeys } }
}

const WAITS_UNDER = 'ARRAY_CONTAINS(@keys, c.reviewKey) OR ARRAY_CONTAINS(@keys, c.fallbackKey)'

const LISTED = {
  collectionId: 'c.collectionId = @collectionId',
  requesterId: 'c.requesterId = @requesterId',
  status: 'c.status = @status',
} as const

const READABLE =
  'c.requesterId = @identityId OR c.submittedBy = @identityId OR ARRAY_CONTAINS(c.deciders, @identityId) OR ' +
  `${WAITS_UNDER} OR ARRAY_CONTAINS(@keys, c.endedKey) OR ARRAY_CONTAINS(@reports, c.requesterId)`
