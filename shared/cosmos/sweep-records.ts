import type { Container } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { JobFilter } from '../domain/group-links/link-dependencies.ts'
import { type SweepRecord, type SweptLink, sweptJob } from '../domain/group-links/swept-jobs.ts'
import { retentionS, type SyncJob } from '../domain/group-links/sync-job.ts'
import { toTimestamp } from '../kernel/timestamp.ts'
import { compareCreation, creationPosition, matching, readPageByCreation } from './creation-page.ts'
import { derivedId } from './derived-id.ts'
import { documentParser } from './document-parser.ts'
import { readDocument, statusOf } from './documents.ts'
import { packedGuids, unpackedGuids } from './packed-guids.ts'

const MINUTE_MS = 60_000

/** GUIDs that are packed for each link. */
const GUIDS_PER_LINK_COUNT = 3

const SweepDocument = Type.Object({
  id: Type.String(),
  tenantId: Type.String(),
  createdAt: Type.String(),
  /** Also tells these documents from the others of the container. */
  sweptAtMs: Type.Number(),
  endMs: Type.Number(),
  /** Ids of link, collection and group of each link. */
  packedLinks: Type.String(),
  /** In the order of the links. Empty when all are 0. */
  skippedCounts: Type.Array(Type.Integer()),
})
type SweepDocument = Readonly<Static<typeof SweepDocument>>

const parse = documentParser<SweepDocument>('sweep record', SweepDocument)

const RANGE = { from: 'c.createdAt >= @from', upTo: 'c.createdAt <= @upTo' } as const

/** Container `jobs`: the sweeps of a tenant beside its stored jobs, and the jobs that consist of them. */
export function cosmosSweepRecords(jobs: Container) {
  async function* newestFirst(tenantId: string, { from, after, count }: RecordRange): AsyncGenerator<SweepRecord> {
    // The record of the job at the position can have further jobs.
    const range = matching({ from, upTo: after?.split(' ')[0] }, RANGE)
    const where = ['IS_DEFINED(c.sweptAtMs)', ...range.conditions].join(' AND ')
    let size = count
    let position: string | undefined
    do {
      const query = { where, parameters: range.parameters, newestFirst: true, after: position, size }
      const page = await readPageByCreation<SweepDocument>(jobs, tenantId, query)
      yield* page.items.map((document) => recordOf(parse(document)))
      position = page.continueAfter
      size *= 2
    } while (position !== undefined)
  }

  return {
    async add(record: SweepRecord): Promise<void> {
      // Two sweeps within a minute are one.
      await jobs.items.create(documentOf(record)).catch((error: unknown) => {
        if (statusOf(error) !== 409) throw error
      })
    },
    async findJob(tenantId: string, jobId: string): Promise<SyncJob | undefined> {
      const document = await readDocument<SweepDocument>(jobs, recordId(minuteOfJob(jobId)), tenantId)
      const record = document && recordOf(parse(document))
      const link = record?.links.find(({ linkId }) => jobIdOf(record, linkId) === jobId)
      return record && link && sweptJob(record, link, jobId)
    },
    /**
     * The first jobs that match the filter, newest first; possibly more than `count`.
     * @param from Jobs that were created before are left out.
     */
    async firstJobs(tenantId: string, filter: JobFilter, { from, after, count }: RecordRange): Promise<SyncJob[]> {
      if (filter.status !== undefined && filter.status !== 'Succeeded') return []
      const found: SyncJob[] = []
      const isOfOneLink = filter.collectionId !== undefined || filter.linkId !== undefined
      for await (const record of newestFirst(tenantId, { from, after, count: isOfOneLink ? count : 1 })) {
        found.push(...jobsOf(record, filter, after))
        if (found.length >= count) break
      }
      return found
    },
  }
}

type RecordRange = {
  readonly from: string | undefined
  readonly after: string | undefined
  readonly count: number
}

function jobsOf(record: SweepRecord, { collectionId, linkId }: JobFilter, after: string | undefined): SyncJob[] {
  return record.links
    .filter((link) => collectionId === undefined || link.collectionId === collectionId)
    .filter((link) => linkId === undefined || link.linkId === linkId)
    .map((link) => sweptJob(record, link, jobIdOf(record, link.linkId)))
    .filter((job) => after === undefined || creationPosition(job) < after)
    .sort((one, other) => compareCreation(other, one))
}

const recordId = (minute: number): string => `sweep-${minute}`

const minuteOf = ({ startMs }: Pick<SweepRecord, 'startMs'>): number => Math.floor(startMs / MINUTE_MS)

/** Hex digits of a job's id that hold the minute of its record, masked by the others. */
const MINUTE_DIGITS_COUNT = 8

/** The job's id leads to its record, so that one read finds the job. */
function jobIdOf(record: Pick<SweepRecord, 'startMs'>, linkId: string): string {
  const minute = minuteOf(record)
  const rest = derivedId('swept job', String(minute), linkId).slice(MINUTE_DIGITS_COUNT)
  return masked(minute, rest).toString(16).padStart(MINUTE_DIGITS_COUNT, '0') + rest
}

/** Any number for the id of another job. */
function minuteOfJob(jobId: string): number {
  return masked(Number.parseInt(jobId.slice(0, MINUTE_DIGITS_COUNT), 16), jobId.slice(MINUTE_DIGITS_COUNT))
}

function masked(number: number, rest: string): number {
  return (number ^ Number.parseInt(derivedId('minute', rest).slice(0, MINUTE_DIGITS_COUNT), 16)) >>> 0
}

function documentOf(record: SweepRecord): SweepDocument & { ttl: number } {
  const { tenantId, startMs, endMs, links } = record
  const skippedCounts = links.map(({ skippedCount }) => skippedCount)
  return {
    id: recordId(minuteOf(record)),
    tenantId,
    createdAt: toTimestamp(startMs),
    sweptAtMs: startMs,
    endMs,
    packedLinks: packedGuids(links.flatMap((link) => [link.linkId, link.collectionId, link.directoryGroupId])),
    skippedCounts: skippedCounts.some((count) => count > 0) ? skippedCounts : [],
    ttl: retentionS('ScheduledSweep'),
  }
}

function recordOf({ tenantId, sweptAtMs: startMs, endMs, packedLinks, skippedCounts }: SweepDocument): SweepRecord {
  const ids = unpackedGuids(packedLinks)
  const links = Array.from({ length: ids.length / GUIDS_PER_LINK_COUNT }, (_, index): SweptLink => {
    const [linkId = '', collectionId = '', directoryGroupId = ''] = ids.slice(index * GUIDS_PER_LINK_COUNT)
    return { linkId, collectionId, directoryGroupId, skippedCount: skippedCounts[index] ?? 0 }
  })
  return { tenantId, startMs, endMs, links }
}
