import { Type } from 'typebox'
import { createLink, VERIFICATION_REFUSALS } from '../../shared/domain/group-links/create-link.ts'
import {
  AcceptedWithoutAccount,
  type GroupLink,
  GroupLinkDto,
  LinkState,
  NewGroupLink,
  SyncOutcome,
} from '../../shared/domain/group-links/group-link.ts'
import { JobChangeDto } from '../../shared/domain/group-links/job-changes.ts'
import type { LinkDependencies } from '../../shared/domain/group-links/link-dependencies.ts'
import { getLink } from '../../shared/domain/group-links/link-lease.ts'
import { listJobChanges } from '../../shared/domain/group-links/list-job-changes.ts'
import {
  deleteLink,
  getLinkOfCollection,
  getSyncJob,
  listLinks,
  listSyncJobs,
  QueuedSync,
  readLinkDto,
  requestSync,
  updateLink,
} from '../../shared/domain/group-links/manage-links.ts'
import { LinkableGroup, searchGroups } from '../../shared/domain/group-links/search-groups.ts'
import { SyncJobDto, SyncJobStatus } from '../../shared/domain/group-links/sync-job.ts'
import { SyncState } from '../../shared/domain/group-links/sync-state.ts'
import { LinkPreview, LinkPreviewInput, previewLink } from '../../shared/domain/sync/preview-sync.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { created, deleted, ok, type Route, type RouteGroup, type RouteInput, route } from '../../shared/http/route.ts'
import { actorIdOf } from '../../shared/kernel/caller.ts'
import { Guid, Nullable } from '../../shared/kernel/schema.ts'
import { revisionETag } from '../../shared/kernel/versioned.ts'
import { COLLECTION_READERS, COLLECTION_WRITERS } from './collection-contract.ts'
import { groupProtectionRoutes, type LinkRouteDependencies } from './group-protection.ts'
import { PREFIXES } from './prefixes.ts'

/** A link writes what a collection contains, so that it needs the same roles. */
const WRITERS = COLLECTION_WRITERS
const READERS = COLLECTION_READERS

const JOBS_LISTED_COUNT = 10
const MAX_JOBS_LISTED_COUNT = 50

/** The members of a link that callers can change. */
export const GroupLinkChange = Type.Object({
  state: Type.Optional(Nullable(LinkState)),
  acceptedWithoutAccount: Type.Optional(Nullable(AcceptedWithoutAccount)),
})

const LinkQuery = Type.Object({
  collectionId: Type.Optional(Guid),
  directoryGroupId: Type.Optional(Guid),
  state: Type.Optional(LinkState),
  lastSyncOutcome: Type.Optional(SyncOutcome),
  held: Type.Optional(Type.Boolean({ description: 'Whether the removal guard holds removals of the link.' })),
  syncState: Type.Optional(SyncState),
  needsAttention: Type.Optional(
    Type.Boolean({ description: 'Whether `syncState` is `Failed`, `RemovalsHeld` or `RemovalsPaused`.' }),
  ),
  ...PageQuery.properties,
})
const JobQuery = Type.Object({
  collectionId: Type.Optional(Guid),
  linkId: Type.Optional(Guid),
  status: Type.Optional(SyncJobStatus),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_JOBS_LISTED_COUNT,
      description: `Maximum number of jobs per page. Default: the limit of the cursor, or ${JOBS_LISTED_COUNT} without one.`,
    }),
  ),
  nextCursor: PageQuery.properties.nextCursor,
})
const GroupQuery = Type.Object({
  text: Type.String({ description: '2 to 256 characters. The start of the name of the groups; case does not matter.' }),
})

/** Group links and sync jobs. */
export const groupLinkRoutes = (deps: LinkRouteDependencies): RouteGroup => ({
  prefix: PREFIXES.groupLink,
  routes: [...readRoutes(deps), ...writeRoutes(deps), ...jobRoutes(deps), ...groupProtectionRoutes(deps)],
})

const readRoutes = (deps: LinkRouteDependencies): readonly Route[] => [
  route('GET', '/group-links', {
    operationId: 'listGroupLinks',
    summary: 'List group links',
    description:
      'Returns a page of the links that match all given filters, oldest first; without filters, all links. With ' +
      '`syncState` or `needsAttention`, a page that is not the last one can have fewer links than `pageSize`.',
    roles: READERS,
    query: LinkQuery,
    reply: { status: 200, schema: Type.Array(GroupLinkDto), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query: { pageSize, nextCursor, ...filter }, caller: { tenantId } }) => {
      const { collectionId, directoryGroupId, state, lastSyncOutcome, held, syncState, needsAttention } = filter
      const binding = [
        tenantId,
        'group-links',
        collectionId,
        directoryGroupId,
        state,
        lastSyncOutcome,
        held?.toString(),
        ...(syncState === undefined && needsAttention === undefined ? [] : [syncState, needsAttention?.toString()]),
      ]
      return pagedResult({ pageSize, nextCursor }, binding, deps.cursors, (after, size) =>
        listLinks(tenantId, filter, after, size, deps),
      )
    },
  }),
  route('GET', '/groups', {
    operationId: 'searchDirectoryGroups',
    summary: 'Search groups of the directory',
    description:
      'Returns up to 50 groups whose name starts with the text, ordered by name, and whether each can be linked. When ' +
      'more groups match, the directory chooses which ones it returns; a longer text finds the others. Where the ' +
      'settings require that the service owns the group, groups that it does not own are refused with `GroupNotOwned`.',
    roles: READERS,
    query: GroupQuery,
    reply: { status: 200, schema: Type.Array(LinkableGroup) },
    refusals: ['InvalidLength', 'GroupNotVerified'],
    run: async ({ query, caller }) => ok(await searchGroups(caller.tenantId, query.text, deps)),
  }),
  route('GET', '/group-links/by-collection/{collectionId}', {
    operationId: 'getGroupLinkOfCollection',
    summary: 'Get the group link of a collection',
    description: 'Returns the oldest link if the collection has several.',
    roles: READERS,
    reply: { status: 200, schema: GroupLinkDto, versioned: 'for-writes' },
    refusals: ['LinkNotFound'],
    run: async ({ path: { collectionId }, caller }) =>
      linkResult(await getLinkOfCollection(caller.tenantId, collectionId, deps), deps),
  }),
  route('GET', '/group-links/{id}', {
    operationId: 'getGroupLink',
    summary: 'Get a group link',
    description: 'The `ETag` changes when a caller changes the link, not when it is synced.',
    roles: READERS,
    reply: { status: 200, schema: GroupLinkDto, versioned: 'for-writes' },
    refusals: ['LinkNotFound'],
    run: async ({ path: { id }, caller }) => linkResult((await getLink(caller.tenantId, id, deps.links)).value, deps),
  }),
  route('POST', '/group-links/preview', {
    operationId: 'previewGroupLink',
    summary: 'Preview a group link',
    description:
      'Returns what a sync of the collection to the group would add and remove. Needs no link, writes nothing. ' +
      '`CollectionNotVerified` also says that a new or changed condition is not evaluated yet: retry some seconds later.',
    roles: READERS,
    body: LinkPreviewInput,
    reply: { status: 200, schema: LinkPreview },
    refusals: VERIFICATION_REFUSALS,
    run: async ({ body, caller }) => ok(await previewLink(caller.tenantId, body, deps)),
  }),
]

const writeRoutes = (deps: LinkDependencies): readonly Route[] => [
  route('POST', '/group-links', {
    operationId: 'createGroupLink',
    summary: 'Create a group link',
    description:
      'Links a collection to a directory group and queues the first sync job. Afterwards, each membership change is ' +
      'written to the group within seconds, and an hourly sweep reverts changes made in the directory. The service ' +
      'never changes group members that are not users, such as nested groups. A collection whose condition reads the ' +
      'members of the group, itself or through collections that it refers to, is refused with `CircularReference`. A ' +
      'tenant has at most 2,000 links.',
    roles: WRITERS,
    body: NewGroupLink,
    reply: { status: 201, schema: Guid },
    refusals: [...VERIFICATION_REFUSALS, 'GroupAlreadyLinked', 'CircularReference', 'QuotaExceeded'],
    conflicts: ['CircularReference'],
    identity: 'optional',
    run: async ({ body, caller, identityId, creation }) => {
      const actorId = actorIdOf({ ...caller, identityId })
      const link = { ...body, createdBy: caller.objectId, actorId }
      return created(`${PREFIXES.groupLink}/group-links`, await createLink(caller.tenantId, link, deps, creation))
    },
  }),
  route('PATCH', '/group-links/{id}', {
    operationId: 'setGroupLinkState',
    summary: 'Change a group link',
    description:
      'Members that are left out keep their value. The group of a disabled link keeps its members and is no longer ' +
      'synced; its queued and running jobs end as `Failed`. Enabling queues no job: the next change of a member, or the ' +
      'sweep within the hour, compares the group. `syncCollection` does it at once.\n\n' +
      '`acceptedWithoutAccount` replaces the list of identities that are members without a directory account, or with ' +
      'one that the directory does not know or refuses, and that no longer keep other members from being removed. A sync job is ' +
      'queued, whose removals are subject to the removal guard. The audit of the collection has the change. Identities ' +
      'that do not exist are refused, unless the link accepts them already.',
    roles: WRITERS,
    identity: 'optional',
    body: GroupLinkChange,
    reply: { status: 200, schema: GroupLinkDto, versioned: 'for-writes' },
    refusals: ['LinkNotFound', 'IdentityUnknown', 'PreconditionFailed', 'StaleVersion'],
    run: async (input) => {
      const { state, acceptedWithoutAccount } = input.body
      const change = {
        ...(state !== null && state !== undefined && { state }),
        ...(acceptedWithoutAccount !== null && acceptedWithoutAccount !== undefined && { acceptedWithoutAccount }),
        requestedBy: input.caller.objectId,
      }
      return linkResult(await updateLink(linkTarget(input), change, deps), deps)
    },
  }),
  route('DELETE', '/group-links/{id}', {
    operationId: 'deleteGroupLink',
    summary: 'Delete a group link',
    description:
      'The group keeps its members. The removals of the last 24 hours stay with the group for a day, and so do held ' +
      'removals that were rejected: the removal guard goes on with them when the group is linked again, to whichever ' +
      'collection.',
    roles: WRITERS,
    identity: 'optional',
    reply: { status: 200, schema: Type.Null() },
    refusals: ['LinkNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async (input) => deleted(deleteLink(linkTarget(input), deps)),
  }),
]

const jobRoutes = (deps: LinkRouteDependencies): readonly Route[] => [
  route('POST', '/group-links/{collectionId}/sync', {
    operationId: 'syncCollection',
    summary: 'Sync a collection',
    description:
      'Queues a sync job for each enabled link of the collection. Poll the jobs for their outcome. While the ' +
      'last job of this call is queued for a link, also for a retry, the link gets no second one: that job is ' +
      'returned.\n\n' +
      'Members without `directoryObjectId` are counted in `skipped`. So are members whose `directoryObjectId` the ' +
      'directory does not know, or that is not the id of a user: the job lists up to 20 of these ids in `unresolved`. ' +
      'Only accounts that the directory has confirmed to be users are added. A user whom the directory refuses as a ' +
      'member of the group, such as a guest of a Microsoft 365 group that takes no guests, counts as one that it does ' +
      'not know, and each job tries again to add it. While there are such ids, jobs add members and remove none. A job ' +
      'that finds more than 1,000 such ids adds the other members, and then fails.\n\n' +
      'A position that was handed over counts for its new holder only if the condition includes that person by now.\n\n' +
      'Removals beyond the limit of the removal guard are held: the job ends `Succeeded` with their number in `held`. ' +
      "See the link's `heldRemovals`.",
    roles: WRITERS,
    reply: { status: 202, schema: QueuedSync },
    refusals: ['LinkNotFound', 'LinkDisabled', 'StaleVersion'],
    run: async ({ path: { collectionId }, caller }) =>
      ok(await requestSync(caller.tenantId, collectionId, deps, caller.objectId)),
  }),
  route('GET', '/sync-jobs', {
    operationId: 'listSyncJobs',
    summary: 'List sync jobs',
    description:
      'Returns a page of the jobs that match all given filters, newest first; without filters, all jobs.\n\n' +
      'Each hour, each enabled link has a job of type `ScheduledSweep`. It compares the group with the collection if one ' +
      'of them may have changed since they were equal, and at least once a week; otherwise it ends at once. Changes of ' +
      "the group's other properties, such as its type, are found by a comparison and before members are written. Such a " +
      'job also runs when membership changes cannot be written incrementally.\n\n' +
      'A job is kept for 30 days, one of type `ScheduledSweep` for two.',
    roles: READERS,
    query: JobQuery,
    reply: { status: 200, schema: Type.Array(SyncJobDto), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query: { limit: pageSize, nextCursor, ...filter }, caller: { tenantId } }) => {
      const { collectionId, linkId, status } = filter
      const binding = [tenantId, 'sync-jobs', collectionId, linkId, status]
      const read = (after: string | undefined, size: number) => listSyncJobs(tenantId, filter, after, size, deps)
      return pagedResult({ pageSize, nextCursor }, binding, deps.cursors, read, JOBS_LISTED_COUNT)
    },
  }),
  route('GET', '/sync-jobs/{id}', {
    operationId: 'getSyncJob',
    summary: 'Get a sync job',
    roles: READERS,
    reply: { status: 200, schema: SyncJobDto },
    refusals: ['SyncJobNotFound'],
    run: async ({ path: { id }, caller }) => ok(await getSyncJob(caller.tenantId, id, deps)),
  }),
  route('GET', '/sync-jobs/{id}/changes', {
    operationId: 'listSyncJobChanges',
    summary: 'List the members that a sync job has added and removed',
    description:
      'Returns a page of the members that the job has added to the group and removed from it so far, in the order of the ' +
      'writes. They are kept as long as the job. A member that the job has both added and removed is listed for each.',
    roles: READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(JobChangeDto), paged: true },
    refusals: ['SyncJobNotFound', 'InvalidCursor'],
    run: ({ path: { id }, query, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'sync-job-changes', id], deps.cursors, (after, size) =>
        listJobChanges(tenantId, id, { after, size }, deps),
      ),
  }),
]

async function linkResult(
  link: GroupLink,
  deps: Pick<LinkDependencies, 'tenants' | 'accountHolders'>,
): Promise<RouteResult<GroupLinkDto>> {
  return { data: await readLinkDto(link, deps), headers: { etag: revisionETag(link) } }
}

type LinkTarget = Parameters<typeof deleteLink>[0]

function linkTarget({ caller, identityId, path, ifMatch }: RouteInput<unknown, unknown, { id: string }>): LinkTarget {
  return { tenantId: caller.tenantId, linkId: path.id, ifMatch, actorId: actorIdOf({ ...caller, identityId }) }
}
