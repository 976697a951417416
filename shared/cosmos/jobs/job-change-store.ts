import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { JobChange, JobChanges } from '../../domain/group-links/job-changes.ts'
import { retentionS, type SyncJob } from '../../domain/group-links/sync-job.ts'
import { packedGuids, unpackedGuids } from '../../kernel/packed-guids.ts'
import type { Page } from '../../kernel/versioned.ts'
import { documentParser } from '../document-parser.ts'
import { queryDocuments, sqlParameters } from '../documents.ts'

/** What a job has written between two of its saves: a step of at most some hundred accounts. */
const ChangeRecord = Type.Object({
  changesOf: Type.String(),
  /** 1 for the first record of a job. */
  number: Type.Integer(),
  atMs: Type.Number(),
  packedAdded: Type.String(),
  packedRemoved: Type.String(),
})
type ChangeRecord = Readonly<Static<typeof ChangeRecord>>

const parse = documentParser('record of written members', ChangeRecord)

/** A record is kept from its own write, a job from its last one, which can be days later. */
const KEPT_LONGER_S = 7 * 24 * 60 * 60

/** Documents of one response: about as many changes as a page of the default size. */
const RECORDS_PER_RESPONSE_COUNT = 20

/** The operation that stores what a job has written, as its record number `changeRecordCount`. */
export function changeRecordOf(job: SyncJob, { added, removed, atMs }: JobChanges): OperationInput {
  const { id, tenantId, type, changeRecordCount: number } = job
  const record: ChangeRecord = {
    changesOf: id,
    number,
    atMs,
    packedAdded: packedGuids(added),
    packedRemoved: packedGuids(removed),
  }
  const resourceBody: JSONObject = {
    ...record,
    id: `changes:${id}:${number}`,
    tenantId,
    ttl: retentionS(type) + KEPT_LONGER_S,
  }
  return { operationType: 'Create', resourceBody }
}

/** A page of what a job has written. Positions are the number of a record and the place in it. */
export async function readJobChanges(
  jobs: Container,
  { tenantId, jobId }: { readonly tenantId: string; readonly jobId: string },
  after: string | undefined,
  size: number,
): Promise<Page<JobChange>> {
  const [number = 0, place = -1] = after?.split(' ').map(Number) ?? []
  const query = {
    query: 'SELECT * FROM c WHERE c.changesOf = @jobId AND c.number >= @number ORDER BY c.number',
    parameters: sqlParameters({ jobId, number }),
  }
  const items: JobChange[] = []
  let last = ''
  const options = { maxItemCount: RECORDS_PER_RESPONSE_COUNT }
  for await (const documents of queryDocuments<object>(jobs, tenantId, query, options)) {
    for (const record of documents.map(parse)) {
      for (const [index, change] of changesIn(record).entries()) {
        if (record.number === number && index <= place) continue
        if (items.length === size) return { items, continueAfter: last }
        items.push(change)
        last = `${record.number} ${index}`
      }
    }
  }
  return { items }
}

function changesIn({ packedAdded, packedRemoved, atMs }: ChangeRecord): JobChange[] {
  const added = unpackedGuids(packedAdded).map((account): JobChange => ({ change: 'Added', account, atMs }))
  return [...added, ...unpackedGuids(packedRemoved).map((account): JobChange => ({ change: 'Removed', account, atMs }))]
}
