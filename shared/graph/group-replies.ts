import {
  DirectoryFault,
  type DirectoryGroup,
  type GroupChange,
  type MemberChangesPage,
  type MemberPage,
} from '../domain/group-links/directory.ts'
import { type GraphReply, replyFault, replyKind } from './graph-calls.ts'

const USER = '#microsoft.graph.user'

/** The group of a reply; undefined when it does not exist. @throws DirectoryFault when it could not be read. */
export function groupIn(reply: GraphReply, groupId: string): DirectoryGroup | undefined {
  if (reply.status === 404 && reply.isJson) return undefined
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  return groupOf(reply.body, groupId)
}

/** The groups of a reply with a list. @throws DirectoryFault when it could not be read. */
export function groupsIn(reply: GraphReply): DirectoryGroup[] {
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  const { value } = (reply.body ?? {}) as { value?: unknown }
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

/** A page of members or owners. @throws DirectoryFault when it could not be read. */
export function membersIn(reply: GraphReply): MemberPage {
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  type Member = { '@odata.type'?: unknown; id?: unknown }
  const { value, '@odata.nextLink': nextLink } = (reply.body ?? {}) as { value?: Member[]; '@odata.nextLink'?: unknown }
  if (!Array.isArray(value)) throw new DirectoryFault('unavailable', 'The directory returned a page without members.')
  const idsOf = (members: readonly Member[]) => members.map(({ id }) => String(id).toLowerCase())
  const { users = [], others = [] } = Object.groupBy(value, (member) =>
    member['@odata.type'] === USER ? 'users' : 'others',
  )
  const page = { users: idsOf(users), others: idsOf(others) }
  return typeof nextLink === 'string' ? { ...page, continueAfter: nextLink } : page
}

/** Whether an object is in a list of owners. @throws DirectoryFault when the owners could not be read. */
export function listsOwner(reply: GraphReply, ownerId: string): boolean {
  const { users, others } = membersIn(reply)
  return [...users, ...others].includes(ownerId)
}

/**
 * A page of changed members; undefined when the directory has forgotten where the reader was.
 * @throws DirectoryFault when it could not be read.
 */
export function memberChangesIn(reply: GraphReply, graphUrl: string): MemberChangesPage | undefined {
  if (isExpired(reply)) return undefined
  if (replyKind(reply) !== 'done') throw replyFault(reply)
  type Page = { value?: ChangedGroup[]; '@odata.nextLink'?: unknown; '@odata.deltaLink'?: unknown }
  const { value, '@odata.nextLink': nextLink, '@odata.deltaLink': deltaLink } = (reply.body ?? {}) as Page
  const link = nextLink ?? deltaLink
  if (!Array.isArray(value) || typeof link !== 'string') {
    throw new DirectoryFault('unavailable', 'The directory returned a page without changes or without a link.')
  }
  return { changes: value.map(groupChangeOf), continueAfter: pathOf(link, graphUrl), isLast: nextLink === undefined }
}

/**
 * What the directory answers to a position that it has forgotten: as documented at
 * https://learn.microsoft.com/graph/delta-query-overview#synchronization-reset, to one older than 30 days ("DeltaLink older
 * than 30 days is not supported"), and to a link of a page that is too old.
 */
const EXPIRED_CODES = ['syncstatenotfound', 'request_unsupportedquery', 'directory_expiredpagetoken']

function isExpired({ status, body }: GraphReply): boolean {
  const { error } = (body ?? {}) as { error?: { code?: unknown } }
  return status === 410 || (status === 400 && EXPIRED_CODES.includes(String(error?.code).toLowerCase()))
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

/**
 * The path of a link to the next page. The token is sent to the host of the link, which must therefore be the directory.
 * @throws DirectoryFault for a link to another place.
 */
export function pathOf(nextLink: string, graphUrl: string): string {
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
