import { Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import type { LinkRecord } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { queueJob } from './queue-job.ts'
import { foundLink } from './write-link.ts'

export const QueuedSync = Closed({
  jobId: Described(Guid, "The job of the collection's oldest enabled link."),
  jobIds: Described(Type.Array(Guid), 'A job for each enabled link.'),
})

/**
 * Queues a ManualSync for each enabled link of a collection; one that is queued already is answered again.
 * @throws Refusal `LinkNotFound` without a link, `LinkDisabled` when none is enabled.
 */
export async function requestSync(
  tenantId: string,
  collectionId: string,
  deps: LinkDependencies,
): Promise<{ jobId: string; jobIds: string[] }> {
  const links = await deps.links.ofCollection(tenantId, collectionId)
  if (links.length === 0) throw new Refusal('LinkNotFound', `The collection ${collectionId} has no group link`)
  const queued = await Promise.all(links.map((link) => manualSync(link, deps)))
  const jobIds = queued.filter((id) => id !== undefined)
  const [jobId] = jobIds
  if (jobId === undefined) throw new Refusal('LinkDisabled', `The collection ${collectionId} has no enabled group link`)
  return { jobId, jobIds }
}

/**
 * The link names its ManualSync before the job is written: of two requests at once, one sees the other's. Should the
 * service die between the two writes, the next request writes the job.
 * @returns Undefined when the link is disabled.
 */
async function manualSync(link: Versioned<LinkRecord>, deps: LinkDependencies): Promise<string | undefined> {
  let known: Versioned<LinkRecord> | undefined = link
  return retryOnConflict(async () => {
    const { value, version } = known ?? (await foundLink(link.value.tenantId, link.value.id, deps.links))
    known = undefined
    if (value.state === 'Disabled') return undefined
    if (value.manualJobId !== null) {
      const job = await deps.jobs.find(value.tenantId, value.manualJobId)
      if (job?.value.status === 'Queued') return job.value.id
      if (job === undefined) return (await queueJob(value, 'ManualSync', deps, value.manualJobId)).id
    }
    const manualJobId = deps.newId()
    await deps.links.replace({ ...value, manualJobId }, version)
    return (await queueJob(value, 'ManualSync', deps, manualJobId)).id
  })
}
