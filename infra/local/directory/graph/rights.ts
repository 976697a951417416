import type { SigningKeys } from '../signing-keys.ts'
import { type GraphCaller, GraphRefusal } from './exchange.ts'

export const GRAPH_AUDIENCE = 'https://graph.microsoft.com'

/** Supported application permissions. https://learn.microsoft.com/graph/permissions-reference */
export type GraphRight =
  | 'GroupMember.Read.All'
  | 'GroupMember.ReadWrite.All'
  | 'Group.Read.All'
  | 'Group.ReadWrite.All'
  | 'User.Read.All'
  | 'User.ReadWrite.All'
  | 'Directory.Read.All'
  | 'Directory.ReadWrite.All'
  | 'Member.Read.Hidden'
  | 'RoleManagement.ReadWrite.Directory'
  | 'Mail.Send'

const DIRECTORY_READERS = ['Directory.Read.All', 'Directory.ReadWrite.All'] as const

/** Each permission of a list is sufficient. */
export const GROUP_WRITERS = ['Group.ReadWrite.All', 'Directory.ReadWrite.All'] as const satisfies GraphRight[]
export const MEMBER_WRITERS = ['GroupMember.ReadWrite.All', ...GROUP_WRITERS] as const satisfies GraphRight[]
export const GROUP_READERS = [
  'GroupMember.Read.All',
  'Group.Read.All',
  'Directory.Read.All',
  ...MEMBER_WRITERS,
] as const satisfies GraphRight[]
export const USER_WRITERS = ['User.ReadWrite.All'] as const satisfies GraphRight[]
export const USER_READERS = ['User.Read.All', ...USER_WRITERS, ...DIRECTORY_READERS] as const satisfies GraphRight[]
export const MAIL_SENDERS = ['Mail.Send'] as const satisfies GraphRight[]
export const OBJECT_READERS = DIRECTORY_READERS

export const holdsOneOf = (caller: GraphCaller, rights: readonly GraphRight[]): boolean =>
  rights.some((right) => caller.roles.has(right))

/** @throws GraphRefusal 401 for a missing, foreign or expired token, or one for another resource */
export function graphCaller(authorization: string | undefined, keys: SigningKeys, nowMs: number): GraphCaller {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) throw unauthorized('Access token is empty.')
  const claims = soundClaims(token, keys)
  if (claims === undefined) throw unauthorized('Access token validation failure.')
  if (claims.aud !== GRAPH_AUDIENCE) throw unauthorized('Access token validation failure. Invalid audience.')
  if (typeof claims.exp !== 'number' || claims.exp * 1000 <= nowMs) {
    throw unauthorized('Lifetime validation failed, the token is expired.')
  }
  const roles = Array.isArray(claims.roles) ? claims.roles.map(String) : []
  return { tenantId: String(claims.tid), clientId: String(claims.appid), roles: new Set(roles) }
}

function soundClaims(token: string, keys: SigningKeys) {
  try {
    return keys.verified(token)
  } catch {
    // Not base64url or not JSON.
    return undefined
  }
}

const unauthorized = (message: string) => new GraphRefusal(401, 'InvalidAuthenticationToken', message)
