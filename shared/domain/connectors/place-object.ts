import { refusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { type ConnectorObject, keptForS, type MovedIdentity, ownCoreObjectId } from './connector-object.ts'
import { earlierNamesTo } from './earlier-names.ts'
import {
  inCoreObject,
  movedIdentities,
  possiblyStaleOf,
  stubOf,
  successorOf,
  withMoved,
} from './former-core-objects.ts'
import type { Placement, PlacementOptions } from './identity-resolver.ts'
import { storedFoldedKeys } from './join-keys.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import { refused, type WriteContext, type WriteDecision } from './write-decision.ts'

/** What has the former name of a renamed object. */
export type FormerName = {
  readonly id: string
  readonly stored: Versioned<ConnectorObject>
  readonly isLive: boolean
  /** Whether an earlier attempt has renamed the object: the name is free. */
  readonly isFollowed: boolean
}

/**
 * Gives an object another name, with its core object. The former name becomes free, and gets another core object, in
 * the same transaction. References to any of its former names lead to the object until they are rewritten.
 */
export function renaming(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  { id: formerId, stored: former, isLive }: FormerName,
  version: string | undefined,
  context: WriteContext,
): WriteDecision {
  const { value: before } = former
  const decision = placement(object, { value: before, version: former.version }, isLive, context, { formerId })
  const [own, ...others] = decision.writes
  if (own === undefined) return decision
  const { connectorId, objectType, externalId } = before
  const earlier = earlierNamesTo(object.id, before, context.earlierNames)
  const free: ConnectorObject = {
    ...{ id: formerId, connectorId, objectType, externalId, data: {}, references: {} },
    ...{ coreObjectId: context.newId(), deletedAtMs: context.nowMs, renamedTo: object.id },
  }
  const formerName = { object: free, version: former.version, ...(earlier && { formerName: earlier }) }
  return {
    ...decision,
    writes: [{ object: own.object, version, formerName }, ...others],
    // Objects that already refer to the new name.
    retargeted: [...decision.retargeted, object],
    renamed: { objectType, externalId: object.externalId, formerId },
  }
}

/** The object under its present and its former names, by which others may still refer to it. */
const namesOf = ({ id, objectType, formerIds = [] }: Pick<ConnectorObject, 'id' | 'objectType' | 'formerIds'>) =>
  [id, ...formerIds].map((objectId) => ({ id: objectId, objectType }))

/** Its keys are determined again. */
export function withoutKeys(stored: ConnectorObject): ConnectorObject {
  const { foldedKeys: _folded, supplements: _supplements, ...object } = withoutConflicts(stored)
  return object
}

function withoutConflicts(stored: ConnectorObject): ConnectorObject {
  const { conflictKeys: _conflicts, createdBesideId: _beside, ...object } = stored
  return object
}

/** Deletes an object, and assigns the identities that its deletion concerns. */
export function deletion({ value, version }: Versioned<ConnectorObject>, context: WriteContext): WriteDecision {
  const deleted = { ...withoutConflicts(value), deletedAtMs: context.nowMs }
  const removal = value.objectType === 'identity' ? context.identityResolver?.remove(deleted) : undefined
  const { movers, continuedIn } = removal ?? { movers: [] }
  const object = { ...deleted, ...(continuedIn !== undefined && { continuedIn }) }
  const others = moverWrites(movers, context)
  return {
    outcome: { outcome: 'deleted', id: value.id },
    // Last: a repetition of an interrupted deletion finds the object live, with no identity left to move.
    writes: [...others.writes, { object: withMoved(object, value, others.moved), version }],
    coreObjects: [stubOf(value, value.coreObjectId, continuedIn), ...others.coreObjects],
    retargeted: [value, ...others.retargeted].flatMap(namesOf),
    possiblyStale: [...possiblyStaleOf(value, context.rules), ...others.possiblyStale],
  }
}

/** Resolves the core object of a created, restored or updated object, and the identities that move with it. */
export function placement(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: Versioned<ConnectorObject> | undefined,
  isLive: boolean,
  context: WriteContext,
  options?: PlacementOptions,
): WriteDecision {
  const { id } = object
  const before = stored?.value
  const former = before?.coreObjectId
  const ownKeys = joiningKeys(object, context)
  // With its keys: a later decision of the batch that marks or moves the identity writes it as the resolver has it.
  const placed = coreObjectFor({ ...object, ...ownKeys }, before, context, options)
  const { coreObjectId, movers, conflictKeys, createdBesideId, isTooLarge, undo } = placed
  if (isTooLarge) {
    undo()
    return refused(refusalEntry('ObjectTooLarge'))
  }
  const isRetargeted = !isLive || coreObjectId !== former
  const keys = {
    ...{ ...ownKeys, ...(conflictKeys && { conflictKeys }) },
    ...(createdBesideId && { createdBesideId }),
  }
  if (
    before !== undefined &&
    !isRetargeted &&
    movers.length === 0 &&
    isSameKeys(before, keys) &&
    isSameData(before, object.data) &&
    before.id === id
  ) {
    return {
      outcome: { outcome: 'unchanged', id },
      writes: [],
      coreObjects: [],
      retargeted: [],
      possiblyStale: possiblyStaleOf(before, context.rules),
    }
  }
  const others = moverWrites(movers, context)
  return {
    outcome: { outcome: isLive ? 'updated' : 'created', id },
    writes: [
      {
        object: withMoved(inCoreObject({ ...object, ...keys }, coreObjectId, before), before, others.moved),
        version: stored?.version,
      },
      ...others.writes,
    ],
    coreObjects: [
      stubOf(object, coreObjectId),
      ...(former === undefined ? [] : [leftBy({ ...object, coreObjectId }, former, context)]),
      ...others.coreObjects,
    ],
    retargeted: [...(isRetargeted ? [object] : []), ...others.retargeted].flatMap(namesOf),
    possiblyStale: [...(before === undefined ? [] : possiblyStaleOf(before, context.rules)), ...others.possiblyStale],
  }
}

function coreObjectFor(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  before: ConnectorObject | undefined,
  { identityResolver, derive }: WriteContext,
  options: PlacementOptions | undefined,
): Placement {
  const isAlone = object.objectType !== 'identity' || identityResolver === undefined
  return isAlone
    ? {
        coreObjectId: before?.coreObjectId ?? ownCoreObjectId(object.id, derive),
        movers: [],
        conflictKeys: before?.conflictKeys,
        createdBesideId: before?.createdBesideId,
        isTooLarge: false,
        undo: () => undefined,
      }
    : identityResolver.place(object, options)
}

function moverWrites(movers: readonly ConnectorObject[], context: WriteContext): MoverWrites {
  const before = movers.map(({ id }) => context.before(id))
  // Others have only a conflict more or less, which changes no core object.
  const isMoving = movers.map((object, index) => object.coreObjectId !== before[index]?.value.coreObjectId)
  const moving = movers.filter((_object, index) => isMoving[index])
  const left = before.filter((_stored, index) => isMoving[index])
  return {
    moved: movedIdentities(moving, left),
    retargeted: moving,
    writes: movers.map((object, index) => {
      const stored = before[index]
      // An identity that is deleted in this batch is kept as any deleted one.
      const wasDeleted = object.deletedAtMs !== undefined && object.deletedAtMs === stored?.value.deletedAtMs
      const keptS = wasDeleted ? keptForS(stored.value, context.nowMs) : undefined
      const moved = inCoreObject(object, object.coreObjectId, stored?.value)
      return { object: moved, version: stored?.version, ...(keptS !== undefined && { keptS }) }
    }),
    coreObjects: moving.flatMap((object, index) => [
      stubOf(object, object.coreObjectId),
      ...[left[index]?.value.coreObjectId ?? []].flat().map((former) => leftBy(object, former, context)),
    ]),
    possiblyStale: left.flatMap((identity) =>
      identity === undefined ? [] : possiblyStaleOf(identity.value, context.rules),
    ),
  }
}

/** A core object that a contributor has left: who leaves it last decides what it is merged into. */
function leftBy(object: ConnectorObject, former: string, { identityResolver, rules }: WriteContext): CoreObjectStub {
  const isLast = identityResolver?.isCarried(former) !== true
  return stubOf(object, former, isLast ? successorOf(object, object.coreObjectId, rules) : undefined)
}

type MoverWrites = Pick<WriteDecision, 'writes' | 'coreObjects' | 'possiblyStale'> & {
  readonly moved: readonly MovedIdentity[]
  readonly retargeted: readonly ConnectorObject[]
}

/** What is stored of an identity's join keys, by which others find it. */
function joiningKeys(
  { objectType, connectorId, data }: Omit<ConnectorObject, 'coreObjectId'>,
  { rules }: WriteContext,
): StoredKeys {
  if (objectType !== 'identity') return {}
  const foldedKeys = storedFoldedKeys(data, rules)
  return { ...(foldedKeys && { foldedKeys }), ...(rules.supplements(connectorId) && { supplements: true }) }
}

type StoredKeys = Pick<ConnectorObject, 'foldedKeys' | 'conflictKeys' | 'supplements'>

const isSameKeys = (left: StoredKeys, right: StoredKeys): boolean => keysText(left) === keysText(right)

const keysText = ({ foldedKeys, conflictKeys, supplements }: StoredKeys): string =>
  JSON.stringify([foldedKeys, conflictKeys, supplements])

export function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([left], [right]) => (left < right ? -1 : 1)))
