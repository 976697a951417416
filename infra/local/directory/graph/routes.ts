import { groupDelta } from './delta.ts'
import {
  changeGroup,
  createGroup,
  createUser,
  deleteOf,
  listGroupsOf,
  listOf,
  readObject,
  readObjects,
  readOf,
} from './directory-objects.ts'
import { badRequest, type GraphAnswer, type GraphCall, GraphRefusal } from './exchange.ts'
import { memberCalls } from './members.ts'
import { addOwner, listOwners, removeOwner } from './owners.ts'
import {
  GROUP_READERS,
  GROUP_WRITERS,
  type GraphRight,
  MAIL_SENDERS,
  MEMBER_WRITERS,
  OBJECT_READERS,
  USER_READERS,
  USER_WRITERS,
} from './rights.ts'
import { sendMail } from './send-mail.ts'

export type GraphRoute = {
  readonly method: string
  readonly path: string
  /** Each of these permissions is sufficient. */
  readonly rights: readonly GraphRight[]
  /**
   * Resource units before the reduction for `$select` and `$top`. https://learn.microsoft.com/graph/throttling-limits
   */
  readonly units: number
  /** A POST that changes nothing, and is not counted as a write. */
  readonly isRead?: boolean
  readonly run: (call: GraphCall) => GraphAnswer
}

export function graphRoutes(): readonly GraphRoute[] {
  const { listMembers, listServicePrincipals, addReference, removeReference, deleteMember } = memberCalls()
  const route = (method: string, path: string, rights: readonly GraphRight[], run: GraphRoute['run'], units = 1) => ({
    method,
    path,
    rights,
    units,
    run,
  })
  return [
    route('GET', '/groups', GROUP_READERS, listOf('group')),
    route('POST', '/groups', GROUP_WRITERS, createGroup),
    route('GET', '/groups/delta', GROUP_READERS, groupDelta, 3),
    route('GET', '/groups/:id', GROUP_READERS, readOf('group')),
    route('PATCH', '/groups/:id', MEMBER_WRITERS, changeGroup),
    route('DELETE', '/groups/:id', GROUP_WRITERS, deleteOf('group')),
    route('GET', '/groups/:id/members', GROUP_READERS, listMembers, 3),
    route('GET', '/groups/:id/members/microsoft.graph.servicePrincipal', GROUP_READERS, listServicePrincipals, 3),
    route('POST', '/groups/:id/members/$ref', MEMBER_WRITERS, addReference),
    route('DELETE', '/groups/:id/members/:memberId/$ref', MEMBER_WRITERS, removeReference),
    route('DELETE', '/groups/:id/members/:memberId', [...MEMBER_WRITERS, ...USER_WRITERS], deleteMember),
    route('GET', '/groups/:id/owners', GROUP_READERS, listOwners),
    route('POST', '/groups/:id/owners/$ref', GROUP_WRITERS, addOwner),
    route('DELETE', '/groups/:id/owners/:ownerId/$ref', GROUP_WRITERS, removeOwner),
    route('GET', '/users', USER_READERS, listOf('user')),
    route('POST', '/users', USER_WRITERS, createUser),
    route('GET', '/users/:id', USER_READERS, readOf('user')),
    route('GET', '/users/:id/memberOf', OBJECT_READERS, listGroupsOf),
    { ...route('POST', '/users/:id/sendMail', MAIL_SENDERS, sendMail), isRead: true },
    route('DELETE', '/users/:id', USER_WRITERS, deleteOf('user')),
    { ...route('POST', '/directoryObjects/getByIds', OBJECT_READERS, readObjects), isRead: true },
    route('GET', '/directoryObjects/:id', OBJECT_READERS, readObject),
    route('DELETE', '/directoryObjects/:id', ['Directory.ReadWrite.All'], deleteOf()),
  ]
}

/** @throws GraphRefusal 400 for an unknown path (like Graph), 405 for another method */
export function findRoute(routes: readonly GraphRoute[], method: string, path: string) {
  const segments = pathSegments(path)
  const matching = routes.flatMap((route) => {
    const parameters = pathParameters(route.path, segments)
    return parameters === undefined ? [] : [{ route, parameters }]
  })
  const found = matching.find(({ route }) => route.method === method)
  if (found !== undefined) return found
  if (matching.length === 0) throw badRequest(`Resource not found for the segment '${segments.at(-1)}'.`, 'BadRequest')
  throw new GraphRefusal(405, 'Request_BadRequest', 'Specified HTTP method is not allowed for the request target.')
}

function pathSegments(path: string): string[] {
  try {
    return path
      .replace(/^\/v1\.0/, '')
      .split('/')
      .slice(1)
      .map(decodeURIComponent)
  } catch (cause) {
    if (cause instanceof URIError) throw badRequest('The URL is not encoded correctly.', 'BadRequest')
    throw cause
  }
}

function pathParameters(pattern: string, segments: readonly string[]): Record<string, string> | undefined {
  const names = pattern.split('/').slice(1)
  if (names.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const segment = segments[index] ?? ''
    if (name.startsWith(':') && segment !== '' && !segment.startsWith('$')) parameters[name.slice(1)] = segment
    else if (name !== segment) return undefined
  }
  return parameters
}
