import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { MembershipRequest } from './membership-request.ts'

/**
 * Returns a request without the notes that are personal data of an identity: all those of people on its own requests,
 * and those that it wrote on the requests of others. Notes of the service itself stay.
 */
export function withoutNotesOf(identityId: string, request: MembershipRequest): MembershipRequest {
  const isPersonal = (actorId: string): boolean =>
    actorId === identityId || (request.requesterId === identityId && actorId !== SYSTEM_ACTOR)
  const lifecycle = request.lifecycle.map((entry) => {
    const { notes: _notes, ...rest } = entry
    return isPersonal(entry.actorId) ? rest : entry
  })
  return { ...request, lifecycle, notes: isPersonal(request.submittedBy) ? null : request.notes }
}

/** Whether an identity is the requester, has submitted the request, or has acted on it. */
export function isNamedIn({ requesterId, submittedBy, lifecycle }: MembershipRequest, identityId: string): boolean {
  return [requesterId, submittedBy, ...lifecycle.map(({ actorId }) => actorId)].includes(identityId)
}

/** Whether the stored result of an operation has a request, with notes of people and the names of those around it. */
export function hasRequest(result: string): boolean {
  const { data } = JSON.parse(result) as { readonly data: unknown }
  return typeof data === 'object' && data !== null && 'lifecycle' in data
}
