import { Type } from 'typebox'
import { createLink, VERIFICATION_REFUSALS } from '../../shared/domain/group-links/create-link.ts'
import {
  type GroupLink,
  GroupLinkDto,
  LinkState,
  linkETag,
  NewGroupLink,
  toGroupLinkDto,
} from '../../shared/domain/group-links/group-link.ts'
import { getLink } from '../../shared/domain/group-links/lease.ts'
import type { LinkDependencies } from '../../shared/domain/group-links/link-dependencies.ts'
import {
  deleteLink,
  getLinkOfCollection,
  getSyncJob,
  listLinksOfCollection,
  listSyncJobs,
  QueuedSync,
  requestSync,
  setLinkState,
} from '../../shared/domain/group-links/manage-links.ts'
import { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import { LinkPreview, LinkPreviewInput, previewLink } from '../../shared/domain/sync/preview-sync.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import {
  created,
  deleted,
  ok,
  pathValue,
  type Route,
  type RouteGroup,
  type RouteInput,
  route,
} from '../../shared/http/route.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { COLLECTION_READERS, COLLECTION_WRITERS } from './collection-contract.ts'
import { PREFIXES } from './prefixes.ts'

/** Statement, "Roles for collections and group links": whoever may manage a collection may manage its link. */
const WRITERS = COLLECTION_WRITERS
const READERS = COLLECTION_READERS

/** Statement, "Limits". */
const JOBS_LISTED_COUNT = 10
const JOBS_LISTED_AT_MOST_COUNT = 50

/** What a caller may change of a link. */
export const GroupLinkChange = Type.Object({ state: LinkState })

const OfCollection = Type.Object({ collectionId: Guid })
const JobsOfCollection = Type.Object({
  collectionId: Guid,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: JOBS_LISTED_AT_MOST_COUNT,
      description: `How many jobs at most; ${JOBS_LISTED_COUNT} when left out.`,
    }),
  ),
})

/** Group links and sync jobs: statement, "Group links and sync jobs". */
export const groupLinkRoutes = (deps: LinkDependencies): RouteGroup => ({
  prefix: PREFIXES.groupLink,
  routes: [...readRoutes(deps), ...writeRoutes(deps), ...jobRoutes(deps)],
})

const readRoutes = (deps: LinkDependencies): readonly Route[] => [
  route({
    operationId: 'listGroupLinks',
    summary: 'All links of a collection, oldest first',
    method: 'GET',
    path: '/group-links',
    roles: READERS,
    query: OfCollection,
    reply: { status: 200, schema: Type.Array(GroupLinkDto) },
    refusals: [],
    run: async ({ query, caller }) => ok(await listLinksOfCollection(caller.tenantId, query.collectionId, deps)),
  }),
  route({
    operationId: 'getGroupLinkOfCollection',
    summary: 'The oldest link of a collection',
    method: 'GET',
    path: '/group-links/by-collection/{collectionId}',
    roles: READERS,
    reply: { status: 200, schema: GroupLinkDto, versioned: true },
    refusals: ['LinkNotFound'],
    run: async ({ path, caller }) =>
      linkResult(await getLinkOfCollection(caller.tenantId, pathValue(path, 'collectionId'), deps)),
  }),
  route({
    operationId: 'getGroupLink',
    summary: 'One group link',
    description: 'The `ETag` changes when a caller changes the link, not with each sync.',
    method: 'GET',
    path: '/group-links/{id}',
    roles: READERS,
    reply: { status: 200, schema: GroupLinkDto, versioned: true },
    refusals: ['LinkNotFound'],
    run: async ({ path, caller }) =>
      linkResult((await getLink(caller.tenantId, pathValue(path, 'id'), deps.links)).value),
  }),
  route({
    operationId: 'previewGroupLink',
    summary: 'What a sync of a collection into a group would write; writes nothing and needs no link',
    method: 'POST',
    path: '/group-links/preview',
    roles: READERS,
    body: LinkPreviewInput,
    reply: { status: 200, schema: LinkPreview },
    refusals: VERIFICATION_REFUSALS,
    run: async ({ body, caller }) => ok(await previewLink(caller.tenantId, body, deps)),
  }),
]

const writeRoutes = (deps: LinkDependencies): readonly Route[] => [
  route({
    operationId: 'createGroupLink',
    summary: 'Link a collection to a directory group; queues the first sync',
    description:
      'From then on each change of the members is written to the group within seconds. Members of the group that ' +
      'are no users, such as nested groups, are left alone.',
    method: 'POST',
    path: '/group-links',
    roles: WRITERS,
    body: NewGroupLink,
    reply: { status: 201, schema: Guid },
    refusals: [...VERIFICATION_REFUSALS, 'GroupAlreadyLinked'],
    run: async ({ body, caller, creation }) =>
      created(`${PREFIXES.groupLink}/group-links`, await createLink(caller.tenantId, body, deps, creation)),
  }),
  route({
    operationId: 'setGroupLinkState',
    summary: 'Enable or disable a group link; a disabled one leaves its group as it is',
    method: 'PATCH',
    path: '/group-links/{id}',
    roles: WRITERS,
    body: GroupLinkChange,
    reply: { status: 200, schema: GroupLinkDto, versioned: true },
    refusals: ['LinkNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async (input) => linkResult(await setLinkState(linkTarget(input), input.body.state, deps)),
  }),
  route({
    operationId: 'deleteGroupLink',
    summary: 'Delete a group link; its group keeps its members',
    method: 'DELETE',
    path: '/group-links/{id}',
    roles: WRITERS,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['LinkNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async (input) => deleted(deleteLink(linkTarget(input), deps)),
  }),
]

const jobRoutes = (deps: LinkDependencies): readonly Route[] => [
  route({
    operationId: 'syncCollection',
    summary: "Queue a sync for each of a collection's enabled links; poll the jobs for their outcome",
    description:
      'A job that waits already is answered again rather than doubled. Accounts are taken from ' +
      '`directoryObjectId` as it is: where that names a group, the directory nests it, and later jobs fail with ' +
      '`The directory has no account` and remove nobody until the data are right.',
    method: 'POST',
    path: '/group-links/{collectionId}/sync',
    roles: WRITERS,
    reply: { status: 202, schema: QueuedSync },
    refusals: ['LinkNotFound', 'LinkDisabled', 'StaleVersion'],
    run: async ({ path, caller }) => ok(await requestSync(caller.tenantId, pathValue(path, 'collectionId'), deps)),
  }),
  route({
    operationId: 'listSyncJobs',
    summary: "A collection's sync jobs, newest first",
    description:
      'A job of type `ScheduledSweep` is queued by the hourly sweep, and at once where changes of the members cannot be ' +
      'written to the group one by one.',
    method: 'GET',
    path: '/sync-jobs',
    roles: READERS,
    query: JobsOfCollection,
    reply: { status: 200, schema: Type.Array(SyncJobDto) },
    refusals: [],
    run: async ({ query: { collectionId, limit = JOBS_LISTED_COUNT }, caller }) =>
      ok(await listSyncJobs(caller.tenantId, collectionId, limit, deps)),
  }),
  route({
    operationId: 'getSyncJob',
    summary: 'One sync job',
    method: 'GET',
    path: '/sync-jobs/{id}',
    roles: READERS,
    reply: { status: 200, schema: SyncJobDto },
    refusals: ['SyncJobNotFound'],
    run: async ({ path, caller }) => ok(await getSyncJob(caller.tenantId, pathValue(path, 'id'), deps)),
  }),
]

function linkResult(link: GroupLink): RouteResult<GroupLinkDto> {
  return { data: toGroupLinkDto(link), headers: { etag: linkETag(link) } }
}

type LinkTarget = { readonly tenantId: string; readonly linkId: string; readonly ifMatch: string | undefined }

function linkTarget({ caller, path, ifMatch }: RouteInput): LinkTarget {
  return { tenantId: caller.tenantId, linkId: pathValue(path, 'id'), ifMatch }
}
