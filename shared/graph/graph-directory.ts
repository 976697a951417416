import {
  type Directory,
  type GroupWithMembers,
  groupRefusal,
  MEMBERS_PER_PAGE_COUNT,
} from '../domain/group-links/directory.ts'
import { chunk } from '../kernel/chunk.ts'
import type { GraphCall, GraphReply, SendCall } from './graph-calls.ts'
import { groupIn, groupsIn, listsOwner, memberChangesIn, membersIn, pathOf } from './group-replies.ts'
import { KnownUsers, USERS_PER_CALL_COUNT, usersCall } from './known-users.ts'
import { groupPath } from './member-calls.ts'
import { CALLS_PER_BATCH_COUNT, type CallResult, retryingCalls } from './retrying-calls.ts'
import { addMembers, type MemberWrites, removeMembers, WRITE_LIMITS } from './write-members.ts'

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
      return groupsIn(await read(tenantId, `/groups?${query}`))
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
        for (const [index, result] of (await calls.sendAll(tenantId, reads)).entries()) {
          const reply = replyOf(result)
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
      for (const result of results.slice(groupReads.length)) {
        for (const user of remembered(tenantId, membersIn(replyOf(result)).users)) users.add(user)
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
        const replies = chunk(results.map(replyOf), CALLS_PER_GROUP_COUNT)
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
      return memberChangesIn(await read(tenantId, path), graphUrl)
    },
    addMembers: (tenantId, groupId, accounts, deadlineMs, refusedBefore) =>
      addMembers(writes(tenantId, groupId, deadlineMs), accounts, refusedBefore),
    removeMembers: (tenantId, groupId, accounts, deadlineMs) =>
      removeMembers(writes(tenantId, groupId, deadlineMs), accounts),
  }
}

/** @throws DirectoryFault when the call could not be sent again. */
function replyOf(result: CallResult | undefined): GraphReply {
  if (result === undefined) throw new Error('A call has no result.')
  if (result.fault !== undefined) throw result.fault
  return result.reply
}

/** Calls that read a group and the first page of its members. */
const CALLS_PER_GROUP_COUNT = 2

const propertiesPath = (groupId: string): string => `${groupPath(groupId)}?$select=${GROUP_PROPERTIES}`

const membersPath = (groupId: string): string =>
  `${groupPath(groupId)}/members?$select=id&$top=${MEMBERS_PER_PAGE_COUNT}`

/**
 * The path that reads whether an object owns a group. Version 1.0 leaves service principals out of the list of owners.
 * The filtered list has them. https://learn.microsoft.com/graph/api/group-list-owners
 */
function ownerPath(groupId: string, ownerId: string): string {
  return `${groupPath(groupId)}/owners?$filter=${encodeURIComponent(`id eq '${ownerId}'`)}&$select=id`
}

/** https://learn.microsoft.com/graph/delta-query-groups */
function trackingPath(groupIds: readonly string[]): string {
  const filter = groupIds.map((id) => `id eq '${id}'`).join(' or ')
  return `/groups/delta?$select=members&$filter=${encodeURIComponent(filter)}`
}
