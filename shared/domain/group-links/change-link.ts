import { requireIfMatch, retryOnConflict } from '../../kernel/versioned.ts'
import { type LinkRecord, linkTag } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { endQueuedJobs } from './queue-job.ts'
import { changeLink, foundLink } from './write-link.ts'

/**
 * Disables or enables a link. Disabling ends its queued jobs; enabling queues nothing by itself.
 * @throws Refusal `LinkNotFound`, `PreconditionFailed`.
 */
export async function setLinkState(
  target: { tenantId: string; linkId: string; ifMatch: string | undefined },
  state: LinkRecord['state'],
  deps: LinkDependencies,
): Promise<LinkRecord> {
  const { tenantId, linkId, ifMatch } = target
  const change = (link: LinkRecord): LinkRecord => {
    requireIfMatch(linkTag(link), ifMatch)
    return { ...link, state, revision: link.revision + 1 }
  }
  const { value } = await changeLink(tenantId, linkId, change, deps)
  deps.log.info('link.state-set', { tenantId, linkId, state })
  if (state === 'Enabled' || (await endQueuedJobs(value, 'The group link is disabled', deps)) === 0) return value
  return (await foundLink(tenantId, linkId, deps.links)).value
}

/**
 * Deletes a link and ends its queued jobs. The group keeps its members, the jobs stay until they expire.
 * @throws Refusal `LinkNotFound`, `PreconditionFailed`.
 */
export async function deleteLink(
  target: { tenantId: string; linkId: string; ifMatch: string | undefined },
  deps: LinkDependencies,
): Promise<void> {
  const { tenantId, linkId, ifMatch } = target
  const removed = await retryOnConflict(async () => {
    const { value, version } = await foundLink(tenantId, linkId, deps.links)
    requireIfMatch(linkTag(value), ifMatch)
    await deps.links.remove(tenantId, linkId, version)
    return value
  })
  deps.log.info('link.deleted', { tenantId, linkId })
  await endQueuedJobs(removed, 'The group link was deleted', deps)
}
