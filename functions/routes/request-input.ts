import type { RequestName, Viewer } from '../../shared/domain/membership-requests/act-on-request.ts'
import {
  type MembershipRequest,
  toMembershipRequestDto,
} from '../../shared/domain/membership-requests/membership-request.ts'
import type { Person } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { ok } from '../../shared/http/answers.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { actingIdentity, pathValue, type RouteInput } from '../../shared/http/route.ts'
import { SEES_ALL_REQUESTS } from './collection-roles.ts'

/** The collection that the path names. */
export function collectionOf({ path }: RouteInput): string {
  return pathValue(path, 'collectionId')
}

/** The request that the path names. */
export function nameOf(input: RouteInput): RequestName {
  const { tenantId } = input.caller
  return { tenantId, collectionId: collectionOf(input), requestId: pathValue(input.path, 'requestId') }
}

/** The caller, on a route for people. */
export function personOf(input: RouteInput): Person {
  return { tenantId: input.caller.tenantId, identityId: actingIdentity(input) }
}

/** The caller as one who looks at requests: all of them, or those that are its business. */
export function viewerOf({ caller, identityId }: RouteInput): Viewer {
  return { identityId, seesAll: SEES_ALL_REQUESTS.some((role) => caller.roles.has(role)) }
}

/** Requests as callers see them. */
export function okRequests(requests: readonly MembershipRequest[]): RouteResult {
  return ok(requests.map(toMembershipRequestDto))
}
