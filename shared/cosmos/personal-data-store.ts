import type { Container, JSONObject, SqlQuerySpec } from '@azure/cosmos'
import {
  identityIsLive,
  type PersonalDataStore,
  withoutPersonalTexts,
  withoutTexts,
} from '../domain/connectors/erase-personal-data.ts'
import { withoutResult } from '../domain/idempotency/idempotency-record.ts'
import { hasRequest, isNamedIn, withoutNotesOf } from '../domain/membership-requests/without-notes.ts'
import { chunk } from '../kernel/chunk.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { AuditDocument } from './audit-trail.ts'
import type { ContainerId } from './containers.ts'
import type { CoreObjectDocument } from './core/core-object-document.ts'
import {
  deleteUnlessGone,
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  queryDocuments,
  type Stored,
  sqlParameters,
  WHOLE_DOCUMENTS_PER_PAGE_COUNT,
} from './documents.ts'
import type { IdempotencyDocument } from './idempotency-store.ts'
import { savedRowsPartition } from './members/saved-rows-store.ts'
import { parseRequest, type RequestDocument, requestDocument } from './requests/request-document.ts'
import { writeVersioned } from './versioned-writes.ts'

type Merged = { readonly id: string; readonly mergedInto?: string }

type Deleted = {
  readonly objectType: 'identity'
  readonly data: Readonly<Record<string, unknown>>
  readonly foldedKeys?: unknown
}

/** A sync job for an approval of held removals. Earlier releases have stored the notes of the approval. */
type ApprovedJob = { readonly approvalNotes?: string | null }

/** Documents read together: of up to 200 KB each, so few that a response is parsed in some milliseconds. */
const DOCUMENTS_PER_PAGE_COUNT = 20
const MAX_ATTEMPTS_COUNT = 20

/** The containers with audit records. */
const AUDITED = ['collections', 'links', 'jobs'] as const satisfies readonly ContainerId[]

/** Rewrites documents of several containers, and leaves their expiry as it is. */
export function cosmosPersonalDataStore(
  container: (id: ContainerId) => Container,
  nowMs: () => number,
): PersonalDataStore {
  const rewrite = rewriter(nowMs)
  return {
    async idsOfPerson(tenantId, identityId) {
      const ids = new Set<string>()
      const query =
        'SELECT c.id, c.mergedInto FROM c WHERE ARRAY_CONTAINS(@next, c.id) OR ARRAY_CONTAINS(@ids, c.mergedInto)'
      let next = [identityId]
      for (let countBefore = -1; ids.size > countBefore; ) {
        countBefore = ids.size
        const spec = asking(query, { next, ids: [...ids] })
        const found = await queryAll<Merged>(container('coreObjects'), tenantId, spec)
        for (const { id } of found) ids.add(id)
        next = found.flatMap(({ mergedInto = [] }) => mergedInto)
      }
      return [...ids]
    },
    liveObjectsOf(tenantId, coreObjectId) {
      const query = `SELECT c.connectorId, c.coreObjectId FROM c
        WHERE (c.coreObjectId = @id OR ARRAY_CONTAINS(c.formerCoreObjectIds, @id))
        AND c.objectType = 'identity' AND NOT IS_DEFINED(c.deletedAtMs)`
      return queryAll(container('connectorObjects'), tenantId, asking(query, { id: coreObjectId }))
    },
    async eraseNotes(tenantId, identityId) {
      // The actors of documents of earlier releases are found by reading them.
      const actsIn = ['ARRAY_CONTAINS(c.actorIds, @id)', 'NOT IS_DEFINED(c.actorIds)']
      const about = ['c.requesterId = @id', 'c.submittedBy = @id', ...actsIn]
      let isNamed = false
      for (const condition of about) {
        const query = `SELECT * FROM c WHERE ${condition} AND c.type = 'request'`
        await rewrite<RequestDocument>(
          container('requests'),
          tenantId,
          asking(query, { id: identityId }),
          (document) => {
            const request = parseRequest(document)
            isNamed ||= isNamedIn(request, identityId)
            const erased = withoutNotesOf(identityId, request)
            const isSame = JSON.stringify(erased) === JSON.stringify(request)
            return isSame ? document : { ...document, ...requestDocument(erased) }
          },
          WHOLE_DOCUMENTS_PER_PAGE_COUNT,
        )
      }
      return isNamed
    },
    async eraseAudit(tenantId, identityIds, texts) {
      const erased = new Set(texts)
      const actors = new Set(identityIds)
      const sought = [...texts, ...identityIds].map((text) => JSON.stringify(text))
      let isFound = false
      // No index finds a part of a text, so all records are read.
      const query = { query: 'SELECT * FROM c WHERE IS_DEFINED(c.auditOf)' }
      for (const id of AUDITED) {
        await rewrite<AuditDocument>(container(id), tenantId, query, (document) => {
          if (!sought.some((text) => document.entry.includes(text))) return document
          isFound = true
          const entry = withoutPersonalTexts(JSON.parse(document.entry), actors, erased)
          return { ...document, entry: JSON.stringify(entry) }
        })
      }
      return isFound
    },
    async eraseJobNotes(tenantId) {
      const query = 'SELECT * FROM c WHERE IS_DEFINED(c.approvedPlanId) AND NOT IS_NULL(c.approvedPlanId)'
      await rewrite<ApprovedJob>(container('jobs'), tenantId, { query }, (job) =>
        typeof job.approvalNotes === 'string' ? { ...job, approvalNotes: null } : job,
      )
    },
    async eraseResults(tenantId) {
      // A result has names without ids, such as those of approvers. All are erased, as each can be read anew.
      const query = { query: 'SELECT * FROM c' }
      const erase = (document: Stored<IdempotencyDocument>) =>
        document.result !== null && hasRequest(document.result) ? withoutResult(document) : document
      await rewrite(container('idempotencyKeys'), tenantId, query, erase, WHOLE_DOCUMENTS_PER_PAGE_COUNT)
    },
    async deleteSavedRows(tenantId) {
      const [members, partition] = [container('members'), savedRowsPartition(tenantId)]
      const ids = await queryAll<string>(members, partition, { query: 'SELECT VALUE c.id FROM c' })
      for (const batch of chunk(ids, OPERATIONS_PER_BATCH_COUNT)) {
        // One that another instance has deleted or replaced meanwhile is gone as well.
        await Promise.all(batch.map((id) => deleteUnlessGone(members, id, partition)))
      }
    },
    async eraseConnectorObjects(tenantId, identityIds) {
      const query =
        "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.coreObjectId) AND IS_DEFINED(c.deletedAtMs) AND c.objectType = 'identity'"
      const spec = asking(query, { ids: identityIds })
      let isFound = false
      await rewrite<Deleted>(container('connectorObjects'), tenantId, spec, (document) => {
        isFound = true
        const { foldedKeys: _keys, ...others } = document
        return { ...others, data: withoutTexts(document.objectType, document.data) }
      })
      return isFound
    },
    async eraseCoreObjects(tenantId, identityIds) {
      const spec = asking('SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', { ids: identityIds })
      await rewrite<CoreObjectDocument>(container('coreObjects'), tenantId, spec, (document) => {
        if (!document.deleted) throw identityIsLive(document.id)
        return { ...document, attributes: withoutTexts(document.objectType, document.attributes) }
      })
    },
  }
}

const asking = (query: string, parameters: Parameters<typeof sqlParameters>[0]): SqlQuerySpec => ({
  query,
  parameters: sqlParameters(parameters),
})

/** Rewrites the documents that a query finds, where that changes them. Reads those again that others have changed. */
function rewriter(nowMs: () => number) {
  return async <T extends object>(
    container: Container,
    partition: string,
    query: SqlQuerySpec,
    change: (document: Stored<T>) => object,
    maxItemCount = DOCUMENTS_PER_PAGE_COUNT,
  ): Promise<void> => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS_COUNT; attempt += 1) {
      let hasConflicts = false
      for await (const documents of queryDocuments<Stored<T>>(container, partition, query, { maxItemCount })) {
        const writes = documents.flatMap((document) => {
          const changed = change(document)
          if (JSON.stringify(changed) === JSON.stringify(document)) return []
          return [{ document: withExpiry(document, changed, nowMs()), version: document._etag }]
        })
        hasConflicts ||= (await writeVersioned(container, partition, writes)).size > 0
      }
      if (!hasConflicts) return
    }
    throw new Refusal('StaleVersion', 'What is to be erased was changed concurrently')
  }
}

/** A time to live counts from the last write: what is left of it is written. */
function withExpiry(before: Stored<object>, changed: object, nowMs: number): JSONObject & { id: string } {
  const { ttl } = before as { ttl?: number }
  const leftS = ttl === undefined ? undefined : Math.max(1, ttl - Math.max(0, Math.floor(nowMs / 1000) - before._ts))
  const members = Object.entries(changed).filter(([name]) => !name.startsWith('_'))
  return { ...Object.fromEntries(members), id: before.id, ...(leftS !== undefined && { ttl: leftS }) }
}
