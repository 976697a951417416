import type { Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObject, MovedIdentity } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import type { CoreObjectStub } from './merged-core-object.ts'

/** Identities that moved with an object, stored with it: as many as one transaction writes. */
const MOVED_IDENTITIES_COUNT = 100

/** Former core objects stored with an object. More than one matters only after several interrupted writes in a row. */
const FORMER_CORE_OBJECTS_COUNT = 8

/** An object whose core objects may be stale because an earlier write was interrupted before the merge. */
export type PossiblyStaleObject = Pick<ConnectorObject, 'id' | 'objectType'> & {
  readonly coreObjects: readonly CoreObjectStub[]
}

/** The identities that move, with their core objects before and after. */
export function movedIdentities(
  movers: readonly ConnectorObject[],
  before: readonly (Versioned<ConnectorObject> | undefined)[],
): MovedIdentity[] {
  return movers.map(({ id, coreObjectId }, index) => {
    const left = before[index]?.value
    return { id, coreObjectIds: [...new Set([coreObjectId, ...(left === undefined ? [] : coreObjectsOf(left))])] }
  })
}

/** Stores the identities that move with the object: a repetition of the write completes it after an interruption. */
export function withMoved(
  object: ConnectorObject,
  before: ConnectorObject | undefined,
  moved: readonly MovedIdentity[],
): ConnectorObject {
  const all = new Map([...(before?.movedIdentities ?? []), ...moved].map((identity) => [identity.id, identity]))
  const movedIdentities = [...all.values()].slice(-MOVED_IDENTITIES_COUNT)
  return { ...object, ...(movedIdentities.length > 0 && { movedIdentities }) }
}

/** @param current The core object to which the contributor belongs now, unless it is deleted. */
export const stubOf = (
  { objectType, externalId }: Omit<ConnectorObject, 'coreObjectId'>,
  id: string,
  current?: string,
): CoreObjectStub => ({
  id,
  objectType,
  externalId,
  ...(current !== undefined && current !== id && { mergedInto: current }),
})

/**
 * The core object that what a contributor leaves is merged into. None for a supplementing one: it carries no person, so
 * that memberships never move with it.
 */
export const successorOf = (
  { connectorId }: Pick<ConnectorObject, 'connectorId'>,
  coreObjectId: string,
  rules: ConnectorRules,
): string | undefined => (rules.supplements(connectorId) ? undefined : coreObjectId)

/** Assigns the object to a core object and records those it has left, which must be merged again without it. */
export function inCoreObject(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  coreObjectId: string,
  before: ConnectorObject | undefined,
): ConnectorObject {
  const left = new Set(before === undefined ? [] : coreObjectsOf(before))
  left.delete(coreObjectId)
  const formerCoreObjectIds = [...left].slice(0, FORMER_CORE_OBJECTS_COUNT)
  return { ...object, coreObjectId, ...(formerCoreObjectIds.length > 0 && { formerCoreObjectIds }) }
}

/**
 * The object and the identities that moved with it, each with its current and former core objects. A write that was
 * interrupted may not have merged these.
 */
export function possiblyStaleOf(object: ConnectorObject, rules: ConnectorRules): PossiblyStaleObject[] {
  const { id, objectType, deletedAtMs, movedIdentities: moved = [] } = object
  const current = deletedAtMs === undefined ? successorOf(object, object.coreObjectId, rules) : object.continuedIn
  const own = { id, objectType, coreObjects: coreObjectsOf(object).map((former) => stubOf(object, former, current)) }
  const others = moved.map((identity) => ({
    id: identity.id,
    objectType,
    coreObjects: identity.coreObjectIds.map((id) => stubOf(object, id)),
  }))
  return [own, ...others]
}

/** The current core object, then the former ones, latest first. */
const coreObjectsOf = ({ coreObjectId, formerCoreObjectIds = [] }: ConnectorObject): string[] => [
  coreObjectId,
  ...formerCoreObjectIds,
]
