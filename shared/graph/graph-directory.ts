import {
  type Directory,
  DirectoryFault,
  type DirectoryGroup,
  type MemberPage,
} from '../domain/group-links/directory.ts'
import type { GraphCall, SendCall } from './graph-calls.ts'
import { type GraphReply, replyFault, replyKind } from './graph-reply.ts'
import { groupPath } from './member-calls.ts'
import { retryingCalls } from './retrying-calls.ts'
import { addMembers, type MemberWrites, removeMembers } from './write-members.ts'

export type GraphDirectoryOptions = {
  /** Without a slash at the end: `https://graph.microsoft.com`. */
  readonly graphUrl: string
  readonly send: SendCall
  sleep(delayMs: number): Promise<void>
  nowMs(): number
  random(): number
}

/** What `groupRefusal` and the link's display name need. */
const GROUP_PROPERTIES = 'id,displayName,groupTypes,mailEnabled,onPremisesSyncEnabled,isAssignableToRole,visibility'

/** The largest page that Graph gives. https://learn.microsoft.com/graph/api/group-list-members */
const MEMBERS_PER_PAGE_COUNT = 999

const USER = '#microsoft.graph.user'

/** The customers' directories as Microsoft Graph shows them. */
export function graphDirectory(options: GraphDirectoryOptions): Directory {
  const { graphUrl } = options
  const calls = retryingCalls(options)
  const writes = (tenantId: string, groupId: string, untilMs: number): MemberWrites => {
    return { graphUrl, tenantId, groupId, untilMs, calls, nowMs: options.nowMs }
  }

  async function read(tenantId: string, path: string): Promise<GraphReply> {
    const call: GraphCall = { method: 'GET', path }
    const [settled] = await calls.settle(tenantId, [call])
    if (settled === undefined) throw new Error('A call was not settled')
    return settled.reply
  }

  return {
    async readGroup(tenantId, groupId) {
      const reply = await read(tenantId, `${groupPath(groupId)}?$select=${GROUP_PROPERTIES}`)
      if (reply.status === 404 && reply.isJson) return undefined
      if (replyKind(reply) !== 'done') throw replyFault(reply)
      return groupOf(reply.body, groupId)
    },
    async listMembers(tenantId, groupId, continueAfter) {
      const first = `${groupPath(groupId)}/members?$select=id&$top=${MEMBERS_PER_PAGE_COUNT}`
      const path = continueAfter === undefined ? first : pathOf(continueAfter, graphUrl)
      const reply = await read(tenantId, path)
      if (replyKind(reply) !== 'done') throw replyFault(reply)
      return pageOf(reply.body)
    },
    addMembers: (tenantId, groupId, accounts, untilMs) => addMembers(writes(tenantId, groupId, untilMs), accounts),
    removeMembers: (tenantId, groupId, accounts, untilMs) =>
      removeMembers(writes(tenantId, groupId, untilMs), accounts),
  }
}

function groupOf(body: unknown, groupId: string): DirectoryGroup {
  const group = body as { [property: string]: unknown } | undefined
  if (typeof group?.id !== 'string')
    throw new DirectoryFault('unavailable', `The directory did not describe ${groupId}`)
  return {
    id: group.id.toLowerCase(),
    displayName: typeof group.displayName === 'string' ? group.displayName : null,
    groupTypes: Array.isArray(group.groupTypes) ? group.groupTypes.map(String) : [],
    mailEnabled: group.mailEnabled === true,
    onPremisesSyncEnabled: typeof group.onPremisesSyncEnabled === 'boolean' ? group.onPremisesSyncEnabled : null,
    isAssignableToRole: typeof group.isAssignableToRole === 'boolean' ? group.isAssignableToRole : null,
    visibility: typeof group.visibility === 'string' ? group.visibility : null,
  }
}

function pageOf(body: unknown): MemberPage {
  type Member = { '@odata.type'?: unknown; id?: unknown }
  const { value, '@odata.nextLink': nextLink } = (body ?? {}) as { value?: Member[]; '@odata.nextLink'?: unknown }
  if (!Array.isArray(value)) throw new DirectoryFault('unavailable', 'The directory answered a page without members')
  const idsOf = (members: readonly Member[]) => members.map(({ id }) => String(id).toLowerCase())
  const { users = [], others = [] } = Object.groupBy(value, (member) =>
    member['@odata.type'] === USER ? 'users' : 'others',
  )
  const page = { users: idsOf(users), others: idsOf(others) }
  return typeof nextLink === 'string' ? { ...page, continueAfter: nextLink } : page
}

/** The token goes where the link points: it has to be the directory itself. */
function pathOf(nextLink: string, graphUrl: string): string {
  const url = URL.canParse(nextLink) ? new URL(nextLink) : undefined
  if (url === undefined || url.origin !== new URL(graphUrl).origin || !url.pathname.startsWith('/v1.0/groups/')) {
    throw new DirectoryFault('unavailable', 'The directory names a next page that is not its own')
  }
  return `${url.pathname.slice('/v1.0'.length)}${url.search}`
}
