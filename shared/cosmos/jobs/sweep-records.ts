import type { Container } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { BegunSweep, JobFilter } from '../../domain/group-links/job-store.ts'
import { type SweepRecord, type SweptLink, sweptJob } from '../../domain/group-links/swept-jobs.ts'
import { retentionS, type SyncJob } from '../../domain/group-links/sync-job.ts'
import { packedGuids, unpackedGuids } from '../../kernel/packed-guids.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import { compareCreation, creationPosition } from '../creation-page.ts'
import { derivedId } from '../derived-id.ts'
import { documentParser } from '../document-parser.ts'
import { readDocument } from '../documents.ts'
import {
  hasList,
  LIST_STORED_AGAIN_AFTER_MS,
  type LoggedSweep,
  loggedSweeps,
  newRegistration,
  type Registration,
  readRegistration,
  readUntilS,
  saveRegistration,
  withSweep,
} from '../tenants/sweep-log.ts'

const MINUTE_MS = 60_000

/** The jobs of sweeps are kept as long as stored ones. */
const KEPT_MS = retentionS('ScheduledSweep') * 1000

/** GUIDs that are packed for each link. */
const GUIDS_PER_LINK_COUNT = 3

/**
 * Links that a sweep has found unchanged. Most sweeps find the same links as the one before, and name the same list.
 */
const ListDocument = Type.Object({
  id: Type.String(),
  tenantId: Type.String(),
  /** Ids of link, collection and group of each link. */
  packedLinks: Type.String(),
  /** In the order of the links. Empty when all are 0. */
  skippedCounts: Type.Array(Type.Integer()),
})
type ListDocument = Readonly<Static<typeof ListDocument>>

const parse = documentParser('list of unchanged links', ListDocument)

/** Sweeps are logged in container `tenants`, their links in container `jobs`. */
export function cosmosSweepRecords(jobs: Container, tenants: Container, nowMs: () => number) {
  async function linksOf(tenantId: string, { listKey }: LoggedSweep): Promise<readonly SweptLink[]> {
    const document = await readDocument<ListDocument>(jobs, listId(listKey), tenantId)
    return document === undefined ? [] : linksIn(parse(document))
  }

  /** The sweeps whose jobs are kept. */
  async function keptSweeps(tenantId: string): Promise<LoggedSweep[]> {
    const registration = await readRegistration(tenants, tenantId)
    const kept = ({ startMs }: LoggedSweep) => startMs >= nowMs() - KEPT_MS
    return registration === undefined ? [] : loggedSweeps(registration.value).filter(kept)
  }

  /** The links are stored first, so that a logged sweep always has its jobs. */
  async function withLinks(registration: Registration, record: SweepRecord): Promise<Registration> {
    const { startMs, endMs, links } = record
    // Two sweeps within a minute are one.
    const isLogged = loggedSweeps(registration).some((sweep) => minuteOf(sweep) === minuteOf(record))
    if (isLogged || links.length === 0) return registration
    const { key, document } = listOf(record)
    if (!hasList(registration, key, startMs)) await jobs.items.upsert(document)
    return withSweep(registration, { startMs, endMs, listKey: key }, startMs - KEPT_MS)
  }

  return {
    async begin(tenantId: string): Promise<BegunSweep> {
      const first = await readRegistration(tenants, tenantId)
      let isFirstAttempt = true
      const attempt = async (record: SweepRecord): Promise<void> => {
        const found = isFirstAttempt ? first : await readRegistration(tenants, tenantId)
        isFirstAttempt = false
        const { evaluated: _before, ...known } = found?.value ?? newRegistration(tenantId)
        const { evaluated, deadlinesReadAtMs } = record
        const registration = {
          ...known,
          sweptAtMs: record.endMs,
          ...(evaluated !== undefined && { evaluated }),
          ...(deadlinesReadAtMs !== undefined && { deadlinesReadAtMs }),
        }
        const logged = await withLinks(registration, record)
        const sweptForMs = Math.max(record.endMs, nowMs()) - record.startMs
        await saveRegistration(tenants, { ...logged, sweptForMs }, found?.version)
      }
      return {
        lastSweepMs: first?.value.sweptAtMs,
        readUntilS: readUntilS(first),
        evaluated: first?.value.evaluated,
        deadlinesReadAtMs: first?.value.deadlinesReadAtMs,
        record: (record) => retryOnConflict(() => attempt(record)),
      }
    },
    async findJob(tenantId: string, jobId: string): Promise<SyncJob | undefined> {
      const minute = minuteOfJob(jobId)
      const sweep = (await keptSweeps(tenantId)).find((candidate) => minuteOf(candidate) === minute)
      if (sweep === undefined) return undefined
      const link = (await linksOf(tenantId, sweep)).find(({ linkId }) => jobIdOf(sweep, linkId) === jobId)
      return link && sweptJob({ tenantId, ...sweep }, link, jobId)
    },
    /**
     * The first jobs that match the filter, newest first; possibly more than `count`.
     * @param from Jobs that were created before are left out.
     */
    async firstJobs(tenantId: string, filter: JobFilter, { from, after, count }: JobRange): Promise<SyncJob[]> {
      if (filter.status !== undefined && filter.status !== 'Succeeded') return []
      // The sweep of the job at the position can have further jobs.
      const upTo = after?.split(' ')[0]
      const lists = new Map<string, readonly SweptLink[]>()
      const found: SyncJob[] = []
      for (const sweep of (await keptSweeps(tenantId)).reverse()) {
        const createdAt = toTimestamp(sweep.startMs)
        if (upTo !== undefined && createdAt > upTo) continue
        if (found.length >= count || (from !== undefined && createdAt < from)) break
        const links = lists.get(sweep.listKey) ?? (await linksOf(tenantId, sweep))
        lists.set(sweep.listKey, links)
        found.push(...jobsOf({ tenantId, ...sweep, links }, filter, after))
      }
      return found
    },
  }
}

type JobRange = {
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
    .sort((left, right) => compareCreation(right, left))
}

const minuteOf = ({ startMs }: Pick<SweepRecord, 'startMs'>): number => Math.floor(startMs / MINUTE_MS)

/** Hex digits of a job's id that hold the minute of its sweep, masked by the others. */
const MINUTE_DIGITS_COUNT = 8

/** The job's id leads to its sweep. */
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

const listId = (key: string): string => `swept-links-${key}`

/** The same links have the same key. */
function listOf({ tenantId, links }: SweepRecord): { key: string; document: ListDocument & { ttl: number } } {
  const sorted = links.toSorted((left, right) => (left.linkId < right.linkId ? -1 : 1))
  const packedLinks = packedGuids(sorted.flatMap((link) => [link.linkId, link.collectionId, link.directoryGroupId]))
  const counts = sorted.map(({ skippedCount }) => skippedCount)
  const skippedCounts = counts.some((count) => count > 0) ? counts : []
  const key = derivedId('unchanged links', packedLinks, skippedCounts.join())
  const ttl = (KEPT_MS + 2 * LIST_STORED_AGAIN_AFTER_MS) / 1000
  return { key, document: { id: listId(key), tenantId, packedLinks, skippedCounts, ttl } }
}

function linksIn({ packedLinks, skippedCounts }: ListDocument): SweptLink[] {
  const ids = unpackedGuids(packedLinks)
  return Array.from({ length: ids.length / GUIDS_PER_LINK_COUNT }, (_, index): SweptLink => {
    const [linkId = '', collectionId = '', directoryGroupId = ''] = ids.slice(
      index * GUIDS_PER_LINK_COUNT,
      (index + 1) * GUIDS_PER_LINK_COUNT,
    )
    return { linkId, collectionId, directoryGroupId, skippedCount: skippedCounts[index] ?? 0 }
  })
}
