import { randomUUID } from 'node:crypto'
import { type DirectoryObject, type DirectoryType, NameTaken } from '../objects.ts'
import { answered, badRequest, type GraphAnswer, type GraphCall, insufficientPrivileges, notFound } from './exchange.ts'
import { bindMembers, existingGroup, memberWriteRefusal, parameter } from './members.ts'
import { bindOwners } from './owners.ts'
import { type Filter, filterOf, page } from './pages.ts'
import { capitalized, objectBody, selection, shown, shownWithType, writtenProperties } from './properties.ts'
import { GROUP_WRITERS, holdsOneOf } from './rights.ts'

type Kind = 'user' | 'group'
const BIND = 'members@odata.bind'
const OWNERS_BIND = 'owners@odata.bind'

/** `GET /users`, `GET /groups`. */
export const listOf =
  (type: Kind) =>
  (call: GraphCall): GraphAnswer => {
    const selected = selection(call.query, type)
    const filter = filterOf(call.query)
    const list = (afterKey: number, count: number) => {
      if (filter === undefined) return call.objects.list(call.caller.tenantId, type, afterKey, count)
      return filtered(call, type, filter, afterKey, count)
    }
    return answered(
      200,
      page(call, `${type}s`, list, (object) => shown(object, selected)),
    )
  }

function filtered(
  { objects, caller }: GraphCall,
  type: Kind,
  { property, value }: Filter,
  afterKey: number,
  count: number,
) {
  if (property === 'displayName') return objects.namedLike(caller.tenantId, type, value, afterKey, count)
  const found = objects.find(caller.tenantId, value)
  return found?.type === type && found.key > afterKey ? [found] : []
}

/** `GET /users/{id}`, `GET /groups/{id}`. */
export const readOf =
  (type: Kind) =>
  (call: GraphCall): GraphAnswer => {
    const selected = selection(call.query, type)
    const context = `${call.origin}/v1.0/$metadata#${type}s/$entity`
    return answered(200, { '@odata.context': context, ...shown(existing(call, type), selected) })
  }

/** `GET /users/{id}/memberOf`: the groups that have the user as a direct member. Reads are never stale here. */
export function listGroupsOf(call: GraphCall): GraphAnswer {
  const user = existing(call, 'user')
  const selected = selection(call.query, 'directoryObject')
  const list = (afterKey: number, count: number) => call.objects.listGroupsOf(user, afterKey, count)
  return answered(
    200,
    page(call, 'directoryObjects', list, (group) => shownWithType(group, selected)),
  )
}

/** `GET /directoryObjects/{id}`, for any type. */
export function readObject(call: GraphCall): GraphAnswer {
  const object = existing(call)
  const context = `${call.origin}/v1.0/$metadata#directoryObjects/$entity`
  return answered(200, {
    '@odata.context': context,
    ...shownWithType(object, selection(call.query, 'directoryObject')),
  })
}

/** https://learn.microsoft.com/graph/api/directoryobject-getbyids */
const OBJECTS_READ_COUNT = 1_000

/** `POST /directoryObjects/getByIds`. Leaves out ids of no object, and of objects of other types. */
export function readObjects(call: GraphCall): GraphAnswer {
  const { ids, types } = objectBody(call.body)
  if (!isTexts(ids) || ids.length === 0) throw badRequest('Invalid value specified for property ids.')
  if (ids.length > OBJECTS_READ_COUNT) throw badRequest(`Too many identifiers specified. Limit: ${OBJECTS_READ_COUNT}.`)
  if (types !== undefined && !isTexts(types)) throw badRequest('Invalid value specified for property types.')
  const selected = selection(call.query, 'directoryObject')
  const value = [...new Set(ids)].flatMap((id) => {
    const object = call.objects.find(call.caller.tenantId, id)
    return object === undefined || types?.includes(object.type) === false ? [] : [shownWithType(object, selected)]
  })
  return answered(200, { '@odata.context': `${call.origin}/v1.0/$metadata#directoryObjects`, value })
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** `DELETE` of a user, a group or, without a type, both. */
export const deleteOf =
  (type?: Kind) =>
  (call: GraphCall): GraphAnswer => {
    call.objects.remove(existing(call, type))
    return answered(204)
  }

/** `POST /users`. */
export function createUser(call: GraphCall): GraphAnswer {
  const properties = required('user', writtenProperties('user', call.body))
  const { userPrincipalName } = properties
  if (typeof userPrincipalName !== 'string' || !userPrincipalName.includes('@')) {
    throw badRequest('Property userPrincipalName is invalid.')
  }
  return created(call, 'user', { accountEnabled: true, userType: 'Member', ...properties }, () => undefined)
}

/** `POST /groups`, with optional initial members and owners. */
export function createGroup(call: GraphCall): GraphAnswer {
  const properties = required('group', writtenProperties('group', call.body))
  const { [BIND]: members, [OWNERS_BIND]: owners } = objectBody(call.body)
  const usual = { groupTypes: [], mailEnabled: false, securityEnabled: true }
  return created(call, 'group', { ...usual, ...properties }, (group) => {
    if (members !== undefined) bindMembers(call, group, members)
    if (owners !== undefined) bindOwners(call, group, owners)
  })
}

function created(
  call: GraphCall,
  type: Kind,
  properties: Record<string, unknown>,
  complete: (object: DirectoryObject) => void,
): GraphAnswer {
  const { objects, caller } = call
  const id = randomUUID()
  const createdDateTime = `${new Date(call.nowMs).toISOString().slice(0, 19)}Z`
  namesFree(() => objects.add(caller.tenantId, { id, type, properties: { ...properties, createdDateTime } }))
  const object = objects.find(caller.tenantId, id)
  if (object === undefined) throw new Error(`${type} ${id} was not stored`)
  try {
    complete(object)
  } catch (error) {
    objects.remove(object)
    throw error
  }
  const context = `${call.origin}/v1.0/$metadata#${type}s/$entity`
  const location = `${call.origin}/v2/${caller.tenantId}/directoryObjects/${id}/Microsoft.DirectoryServices.${capitalized(type)}`
  const body = { '@odata.context': context, ...shown(object, undefined) }
  return { status: 201, headers: { location }, body }
}

/** Adds members, changes properties, or both. Only properties require the permission to write groups. */
export function changeGroup(call: GraphCall): GraphAnswer {
  const written = writtenProperties('group', call.body)
  const members = objectBody(call.body)[BIND]
  const changesProperties = Object.keys(written).length > 0
  if (changesProperties && !holdsOneOf(call.caller, GROUP_WRITERS)) throw insufficientPrivileges()
  const group = existingGroup(call)
  if (members !== undefined) {
    const refusal = memberWriteRefusal(group, call.caller)
    if (refusal !== undefined) throw refusal
    bindMembers(call, group, members)
  }
  if (changesProperties) call.objects.replace(group, { ...group.properties, ...written })
  return answered(204)
}

function existing(call: GraphCall, type?: DirectoryType): DirectoryObject {
  const id = parameter(call, 'id')
  const { tenantId } = call.caller
  const object =
    type === 'user' && id.includes('@')
      ? call.objects.findByUserPrincipalName(tenantId, id)
      : call.objects.find(tenantId, id)
  if (object === undefined || (type !== undefined && object.type !== type)) throw notFound(id)
  return object
}

function required(type: Kind, properties: Record<string, unknown>): Record<string, unknown> {
  for (const name of ['displayName', 'mailNickname']) {
    if (typeof properties[name] === 'string' && properties[name] !== '') continue
    throw badRequest(`A value is required for property '${name}' of resource '${capitalized(type)}'.`)
  }
  return properties
}

function namesFree(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error
    throw badRequest('Another object with the same value for property userPrincipalName already exists.')
  }
}
