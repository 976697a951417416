import {
  type Directory,
  DirectoryFault,
  type DirectoryGroup,
  type GroupChange,
  type GroupWithMembers,
  groupRefusal,
  MEMBERS_PER_PAGE_COUNT,
  type MemberChangesPage,
  type MemberPage,
} from '../domain/group-links/directory.ts'
import { chunk } from '../kernel/chunk.ts'
import { type GraphCall, type GraphReply, replyFault, replyKind, type SendCall } from './graph-calls.ts'
import { KnownUsers, USERS_PER_CALL_COUNT, usersCall } from './known-users.ts'
import { CALLS_PER_BATCH_COUNT, type CallResult, retryingCalls } from './retrying-calls.ts'
import { addMembers, groupPath, type MemberWrites, removeMembers, WRITE_LIMITS } from './write-members.ts'

export type GraphDirectoryOptions = {
  /** Without a trailing slash: `https://graph.microsoft.com`. */
  readonly graphUrl: string
  readonly send: SendCall
  /** Object id of the service's service principal in a tenant. @throws DirectoryFault */
  servicePrincipalOf(tenantId: string): Promise<string>
  sleep(delayMs: number): Promise<void>
  nowMs(): number
  random(): number
}

/** The properties that `groupRefusal` and the link's display name need. */
const GROUP_PROPERTIES =
  'id,displayName,groupTypes,mailEnabled,onPremisesSyncEnabled,isAssignableToRole,visibility,isManagementRestricted'

const USER = '#microsoft.graph.user'

/** The customers' directories through Microsoft Graph. */
export function graphDirectory(options: GraphDirectoryOptions): Directory {
  const { graphUrl } = options
  const calls = retryingCalls(options)
  const known = new KnownUsers()
  const writes = (tenantId: string, groupId: string, deadlineMs: number): MemberWrites => {
    return { graphUrl, tenantId, groupId, deadlineMs, calls, nowMs: options.nowMs }
  }

  async function read(tenantId: string, path: string): Promise<GraphReply> {
    const call: GraphCall = { method: 'GET', path }
    const [result] = await calls.sendAll(tenantId, [call])
    return replyOf(result)
  }

  function remembered(tenantId: string, users: readonly string[]): readonly string[] {
    known.remember(tenantId, users)
    return users
  }

  return {
    limits: WRITE_LIMITS,
    async readGroup(tenantId, groupId) {
      return groupIn(await read(tenantId, propertiesPath(groupId)), groupId)
    },
    async findGroups(tenantId, nameStart, limit) {
      // A quote within a text is doubled: OData 4.01, URL Conventions, section 5.1.1.14.1.
      const filter = `startswith(displayName,'${nameStart.replaceAll("'", "''")}')`
      const query = `$filter=${encodeURIComponent(filter)}&$select=${GROUP_PROPERTIES}&$top=${limit}`
      const reply = await read(tenantId, `/groups?${query}`)
      if (replyKind(reply) !== 'done') throw replyFault(reply)
      return groupsOf(reply.body)
    },
    async readOwnership(tenantId, groupId) {
      const servicePrincipalId = await options.servicePrincipalOf(tenantId)
      const reply = await read(tenantId, ownerPath(groupId, servicePrincipalId))
      return { servicePrincipalId, isOwned: listsOwner(reply, servicePrincipalId) }
    },
    async ownedGroups(tenantId, groupIds) {
      if (groupIds.length === 0) return new Set()
      const servicePrincipalId = await options.servicePrincipalOf(tenantId)
      const owned = new Set<string>()
      for (const batch of chunk(groupIds, CALLS_PER_BATCH_COUNT)) {
        const reads = batch.map((id): GraphCall => ({ method: 'GET', path: ownerPath(id, servicePrincipalId) }))
        for (const [index, { reply }] of (await calls.sendAll(tenantId, reads)).entries()) {
          // The index of groups can show one that was deleted a short time ago.
          const isMissing = reply.status === 404 && reply.isJson
          if (!isMissing && listsOwner(reply, servicePrincipalId)) owned.add(batch[index] ?? '')
        }
      }
      return owned
    },
    async usersAmong(tenantId, accounts) {
      const unknown = known.unknownAmong(tenantId, accounts)
      const users = new Set(accounts).difference(new Set(unknown))
      for (const batch of chunk(unknown, USERS_PER_CALL_COUNT)) {
        const [result] = await calls.sendAll(tenantId, [usersCall(batch)])
        for (const user of remembered(tenantId, membersIn(replyOf(result)).users)) users.add(user)
      }
      return users
    },
    async groupsOf(tenantId, account, groupIds) {
      const wanted = new Set(groupIds)
      const found = new Set<string>()
      let path: string | undefined = `/users/${account}/memberOf?$select=id&$top=${MEMBERS_PER_PAGE_COUNT}`
      while (path !== undefined && found.size < wanted.size) {
        const reply = await read(tenantId, path)
        if (reply.status === 404 && reply.isJson) return undefined
        const page = membersIn(reply)
        for (const id of page.others) if (wanted.has(id)) found.add(id)
        path = page.continueAfter === undefined ? undefined : pathOf(page.continueAfter, graphUrl)
      }
      return found
    },
    async checkChange(tenantId, groupId, { accounts, requiresOwnership }) {
      const unknown = known.unknownAmong(tenantId, accounts)
      const users = new Set(accounts).difference(new Set(unknown))
      if (unknown.length === 0 && !requiresOwnership) return { users, refusal: undefined }
      const ownerId = requiresOwnership ? await options.servicePrincipalOf(tenantId) : undefined
      const groupReads = [propertiesPath(groupId), ...(ownerId === undefined ? [] : [ownerPath(groupId, ownerId)])]
      const results = await calls.sendAll(tenantId, [
        ...groupReads.map((path): GraphCall => ({ method: 'GET', path })),
        ...chunk(unknown, USERS_PER_CALL_COUNT).map(usersCall),
      ])
      const refusal = groupRefusal(groupIn(replyOf(results[0]), groupId))
      for (const { reply } of results.slice(groupReads.length)) {
        for (const user of remembered(tenantId, membersIn(reply).users)) users.add(user)
      }
      const isOwned = refusal !== undefined || ownerId === undefined || listsOwner(replyOf(results[1]), ownerId)
      return { users, refusal: isOwned ? refusal : 'GroupNotOwned' }
    },
    async listMembers(tenantId, groupId, continueAfter) {
      const path = continueAfter === undefined ? membersPath(groupId) : pathOf(continueAfter, graphUrl)
      return membersIn(await read(tenantId, path))
    },
    async readGroupsWithMembers(tenantId, groupIds) {
      const found = new Map<string, GroupWithMembers>()
      for (const batch of chunk(groupIds, CALLS_PER_BATCH_COUNT / CALLS_PER_GROUP_COUNT)) {
        const paths = batch.flatMap((id) => [propertiesPath(id), membersPath(id)])
        const results = await calls.sendAll(
          tenantId,
          paths.map((path): GraphCall => ({ method: 'GET', path })),
        )
        const replies = chunk(
          results.map(({ reply }) => reply),
          CALLS_PER_GROUP_COUNT,
        )
        for (const [index, [properties, members]] of replies.entries()) {
          const id = batch[index]
          if (id === undefined || properties === undefined || members === undefined)
            throw new Error('A call has no result.')
          const group = groupIn(properties, id)
          if (group !== undefined) found.set(id, { group, members: membersIn(members) })
        }
      }
      return found
    },
    async readMemberChanges(tenantId, from) {
      const path = 'groupIds' in from ? trackingPath(from.groupIds) : from.continueAfter
      const reply = await read(tenantId, path)
      if (isExpired(reply)) return undefined
      if (replyKind(reply) !== 'done') throw replyFault(reply)
      return changesPageOf(reply.body, graphUrl)
    },
    addMembers: (tenantId, groupId, accounts, deadlineMs) =>
      addMembers(writes(tenantId, groupId, deadlineMs), accounts),
    removeMembers: (tenantId, groupId, accounts, deadlineMs) =>
      removeMembers(writes(tenantId, groupId, deadlineMs), accounts),
  }
}

function replyOf(result: CallResult | undefined): GraphReply {
  if (result === undefined) throw new Error('A call has no result.')
  return result.reply
}

/** Calls that read a group and the first page of its members. */
const CALLS_PER_GROUP_COUNT = 2

const propertiesPath = (groupId: string): string => `${groupPath(groupId)}?$select=${GROUP_PROPERTIES}`

const membersPath = (groupId: string): string =>
  `${groupPath(groupId)}/members?$select=id&$top=${MEMBERS_PER_PAGE_COUNT}`

/** Undefined when the group does not exist. @throws DirectoryFault */
function groupIn(reply: GraphReply, groupId: string): DirectoryGroup | undefined {
  if (reply.status === 404 && reply.isJson) return undefined
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  return groupOf(reply.body, groupId)
}

/** @throws DirectoryFault */
function membersIn(reply: GraphReply): MemberPage {
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  return pageOf(reply.body)
}

/**
 * The path that reads whether an object owns a group. Version 1.0 leaves service principals out of the list of owners.
 * The filtered list has them. https://learn.microsoft.com/graph/api/group-list-owners
 */
function ownerPath(groupId: string, ownerId: string): string {
  return `${groupPath(groupId)}/owners?$filter=${encodeURIComponent(`id eq '${ownerId}'`)}&$select=id`
}

/** @throws DirectoryFault when the owners could not be read. */
function listsOwner(reply: GraphReply, ownerId: string): boolean {
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  const { users, others } = pageOf(reply.body)
  return [...users, ...others].includes(ownerId)
}

function groupsOf(body: unknown): DirectoryGroup[] {
  const { value } = (body ?? {}) as { value?: unknown }
  if (!Array.isArray(value)) throw new DirectoryFault('unavailable', 'The directory returned no list of groups.')
  return value.map((group) => groupOf(group, 'in a list'))
}

function groupOf(body: unknown, groupId: string): DirectoryGroup {
  const group = body as { [property: string]: unknown } | undefined
  if (typeof group?.id !== 'string')
    throw new DirectoryFault('unavailable', `The directory returned no properties of group ${groupId}.`)
  return {
    id: group.id.toLowerCase(),
    displayName: typeof group.displayName === 'string' ? group.displayName : null,
    groupTypes: Array.isArray(group.groupTypes) ? group.groupTypes.map(String) : [],
    mailEnabled: group.mailEnabled === true,
    onPremisesSyncEnabled: typeof group.onPremisesSyncEnabled === 'boolean' ? group.onPremisesSyncEnabled : null,
    isAssignableToRole: typeof group.isAssignableToRole === 'boolean' ? group.isAssignableToRole : null,
    visibility: typeof group.visibility === 'string' ? group.visibility : null,
    isManagementRestricted: typeof group.isManagementRestricted === 'boolean' ? group.isManagementRestricted : null,
  }
}

function pageOf(body: unknown): MemberPage {
  type Member = { '@odata.type'?: unknown; id?: unknown }
  const { value, '@odata.nextLink': nextLink } = (body ?? {}) as { value?: Member[]; '@odata.nextLink'?: unknown }
  if (!Array.isArray(value)) throw new DirectoryFault('unavailable', 'The directory returned a page without members.')
  const idsOf = (members: readonly Member[]) => members.map(({ id }) => String(id).toLowerCase())
  const { users = [], others = [] } = Object.groupBy(value, (member) =>
    member['@odata.type'] === USER ? 'users' : 'others',
  )
  const page = { users: idsOf(users), others: idsOf(others) }
  return typeof nextLink === 'string' ? { ...page, continueAfter: nextLink } : page
}

/** https://learn.microsoft.com/graph/delta-query-groups */
function trackingPath(groupIds: readonly string[]): string {
  const filter = groupIds.map((id) => `id eq '${id}'`).join(' or ')
  return `/groups/delta?$select=members&$filter=${encodeURIComponent(filter)}`
}

/** https://learn.microsoft.com/graph/delta-query-overview#synchronization-reset */
function isExpired({ status, body }: GraphReply): boolean {
  const { error } = (body ?? {}) as { error?: { code?: unknown } }
  return status === 410 || (status === 400 && String(error?.code).toLowerCase() === 'syncstatenotfound')
}

function changesPageOf(body: unknown, graphUrl: string): MemberChangesPage {
  type Page = { value?: ChangedGroup[]; '@odata.nextLink'?: unknown; '@odata.deltaLink'?: unknown }
  const { value, '@odata.nextLink': nextLink, '@odata.deltaLink': deltaLink } = (body ?? {}) as Page
  const link = nextLink ?? deltaLink
  if (!Array.isArray(value) || typeof link !== 'string') {
    throw new DirectoryFault('unavailable', 'The directory returned a page without changes or without a link.')
  }
  return { changes: value.map(groupChangeOf), continueAfter: pathOf(link, graphUrl), isLast: nextLink === undefined }
}

type ChangedObject = { readonly id?: unknown; readonly '@odata.type'?: unknown; readonly '@removed'?: unknown }
type ChangedGroup = ChangedObject & { readonly 'members@delta'?: unknown }

function groupChangeOf({ id, '@removed': removed, 'members@delta': members }: ChangedGroup): GroupChange {
  const groupId = String(id).toLowerCase()
  if (removed !== undefined || !Array.isArray(members)) return { groupId, members: undefined }
  const changeOf = (member: ChangedObject) => ({
    id: String(member.id).toLowerCase(),
    isUser: member['@odata.type'] === USER,
    isMember: member['@removed'] === undefined,
  })
  return { groupId, members: members.map(changeOf) }
}

/** The token is sent to the host of the link, which must therefore be the directory. */
function pathOf(nextLink: string, graphUrl: string): string {
  const url = URL.canParse(nextLink) ? new URL(nextLink) : undefined
  if (
    url === undefined ||
    url.origin !== new URL(graphUrl).origin ||
    !/^\/v1\.0\/(groups|users)\//.test(url.pathname)
  ) {
    throw new DirectoryFault('unavailable', 'The directory returned a link to another host.')
  }
  return `${url.pathname.slice('/v1.0'.length)}${url.search}`
}
