import type { Container, OperationInput } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { AuditRecord, AuditTrail } from '../domain/history/audit.ts'
import { firstOfPages, readPageByCreation } from './creation-page.ts'
import { documentParser } from './document-parser.ts'

const Text = Type.String()
/** A record in the partition of what it tells of. `entry` is the rest of it as JSON text. */
const AuditDocument = Type.Object({ id: Text, tenantId: Text, auditOf: Text, createdAt: Text, entry: Text })
/** Queries for other documents name properties that it lacks. */
export type AuditDocument = Readonly<Static<typeof AuditDocument>>
const parse = documentParser('audit record', AuditDocument)

/** Creates the document of a record, if there is one, in the transaction of the change. */
export function auditOperations(record: AuditRecord | undefined): OperationInput[] {
  if (record === undefined) return []
  // The unique key of container `links` allows one document per tenant without a value.
  return [{ operationType: 'Create', resourceBody: { ...auditDocument(record), directoryGroupId: record.id } }]
}

/** Returns the stored form of a record. */
export function auditDocument({ id, tenantId, subject, at, ...entry }: AuditRecord): AuditDocument {
  return { id, tenantId, auditOf: subject, createdAt: at, entry: JSON.stringify(entry) }
}

/** Records of a page: each can have two versions of a condition, together 200 KB. */
const MAX_RECORDS_COUNT = 100

/** Reads the records of several containers with partition key `/tenantId`. */
export function cosmosAuditTrail(containers: readonly Container[]): AuditTrail {
  return {
    async page(tenantId, subject, after, wantedSize) {
      const size = Math.min(wantedSize, MAX_RECORDS_COUNT)
      const query = { where: 'c.auditOf = @subject', parameters: { subject }, newestFirst: true, after, size }
      const pages = await Promise.all(
        containers.map((container) => readPageByCreation<AuditDocument>(container, tenantId, query)),
      )
      const page = firstOfPages(pages, query)
      return { ...page, items: page.items.map(recordOf) }
    },
  }
}

/** Returns the record in a document. @throws Error when it is not a valid one. */
export function recordOf(document: AuditDocument): AuditRecord {
  const { id, tenantId, auditOf: subject, createdAt: at, entry } = parse(document)
  return {
    id,
    tenantId,
    subject,
    at,
    ...(JSON.parse(entry) as Omit<AuditRecord, 'id' | 'tenantId' | 'subject' | 'at'>),
  }
}
