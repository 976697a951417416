import type { DirectoryObject } from '../objects.ts'
import { answered, badRequest, type GraphAnswer, type GraphCall, notFound } from './exchange.ts'
import { existingGroup, parameter, referredObject } from './members.ts'
import { filterOf, page } from './pages.ts'
import { objectBody, selection, shownWithType } from './properties.ts'

const ALREADY_OWNER =
  "One or more added object references already exist for the following modified properties: 'owners'."

/**
 * The owners of a group. Like Graph v1.0, the list has no service principals, except when it is filtered by id.
 * https://learn.microsoft.com/graph/api/group-list-owners
 */
export function listOwners(call: GraphCall): GraphAnswer {
  const group = existingGroup(call)
  const selected = selection(call.query, 'directoryObject')
  const filter = filterOf(call.query)
  if (filter !== undefined && filter.property !== 'id') {
    throw badRequest(
      `Unsupported property filter clause for property '${filter.property}'.`,
      'Request_UnsupportedQuery',
    )
  }
  const list =
    filter === undefined
      ? (afterKey: number, count: number) => call.objects.listOwners(group, afterKey, count)
      : (afterKey: number) => namedOwner(call, group, filter.value).filter(({ key }) => key > afterKey)
  return answered(
    200,
    page(call, 'directoryObjects', list, (owner) => shownWithType(owner, selected)),
  )
}

function namedOwner({ objects, caller }: GraphCall, group: DirectoryObject, id: string): DirectoryObject[] {
  const object = objects.find(caller.tenantId, id)
  return object !== undefined && objects.isOwner(group, object) ? [object] : []
}

export function addOwner(call: GraphCall): GraphAnswer {
  const group = existingGroup(call)
  const owner = referredObject(call, objectBody(call.body)['@odata.id'], '@odata.id')
  if (!call.objects.addOwner(group, ownerOf(owner))) throw badRequest(ALREADY_OWNER)
  return answered(204)
}

export function removeOwner(call: GraphCall): GraphAnswer {
  const group = existingGroup(call)
  const ownerId = parameter(call, 'ownerId')
  const owner = call.objects.find(call.caller.tenantId, ownerId)
  if (owner === undefined || !call.objects.removeOwner(group, owner)) throw notFound(ownerId)
  return answered(204)
}

/** Adds the owners of a new group. `owners` is `owners@odata.bind` of the body. */
export function bindOwners(call: GraphCall, group: DirectoryObject, owners: unknown): void {
  if (!Array.isArray(owners)) throw badRequest("Invalid value specified for property 'owners' of resource 'Group'.")
  for (const reference of owners) {
    if (!call.objects.addOwner(group, ownerOf(referredObject(call, reference, 'owners@odata.bind')))) {
      throw badRequest('Request contains a property with duplicate values.')
    }
  }
}

/** Only users and service principals can own a group. */
function ownerOf(object: DirectoryObject): DirectoryObject {
  if (object.type !== 'group') return object
  throw badRequest("The reference target 'Group' of property 'owners' is not valid.")
}
