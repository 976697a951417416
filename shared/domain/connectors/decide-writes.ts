import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { isMatch, type Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObjectWrite } from './connector-object.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DeriveId,
  type MovedIdentity,
  ownCoreObjectId,
  referenceIds,
} from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import {
  inCoreObject,
  movedIdentities,
  type PossiblyStaleObject,
  possiblyStaleOf,
  stubOf,
  successorOf,
  withMoved,
} from './former-core-objects.ts'
import type { IdentityResolver, Placement } from './identity-resolver.ts'
import { storedFoldedKeys } from './join-keys.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import type { ObjectWrite } from './object-input.ts'
import { type ParentOf, parentFault, parentIn } from './org-tree.ts'

/** The outcome of one item. `id` is the id of the connector object. */
export type ItemOutcome =
  | {
      readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted'
      readonly id: string
      readonly warnings?: readonly ItemWarning[]
    }
  | { readonly outcome: 'refused'; readonly errors: readonly RefusalEntry[] }

/** What an item that was written lacks. `target` is a pointer into the item. */
export type ItemWarning = { readonly code: 'ReferenceUnresolved'; readonly target: string }

/** The state that a decision is based on. */
export type WriteContext = {
  readonly connectorId: string
  readonly rules: ConnectorRules
  /** The stored objects that the items name, by id. */
  readonly stored: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** Resolves the identities connected to those of the items; undefined when the tenant has no other connector. */
  readonly identityResolver: IdentityResolver | undefined
  /** Returns the stored version of such an identity or of an item's object; undefined for a new object. */
  before(id: string): Versioned<ConnectorObject> | undefined
  readonly parentOf: ParentOf
  readonly derive: DeriveId
  newId(): string
  readonly nowMs: number
}

/** An object with another name than before. */
type Renamed = Pick<ConnectorObject, 'objectType' | 'externalId'> & { readonly formerId: string }

export type WriteDecision = {
  readonly outcome: ItemOutcome
  /** The item's object, and the identities that move to another core object with it. Empty when nothing changes. */
  readonly writes: readonly ConnectorObjectWrite[]
  /** Core objects that the writes may change. */
  readonly coreObjects: readonly CoreObjectStub[]
  /** Objects whose core object changes, so that references to them resolve to another core object. */
  readonly retargeted: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
  /** The object that is renamed, or was by an earlier attempt: references to its former id follow. */
  readonly renamed?: Renamed
  /** Objects whose core objects may be stale because an earlier write was interrupted before the merge. */
  readonly possiblyStale: readonly PossiblyStaleObject[]
}

/** Decides on one item. Its only side effect is on the identity resolver, which takes over the decided identities. */
export function decideWrite(write: ObjectWrite, context: WriteContext): WriteDecision {
  const { connectorId, derive } = context
  const id = connectorObjectId({ ...write, connectorId }, derive)
  const stored = context.stored.get(id)
  const live = stored?.value.deletedAtMs === undefined ? stored : undefined
  const isConditional = write.operation === 'replace' || write.operation === 'delete'
  if (isConditional && live !== undefined && !isMatch(live.version, write.ifMatch)) return changedSince(write)
  switch (write.operation) {
    case 'delete':
      return live === undefined ? notFound(write, context.rules, stored?.value) : deletion(live, context)
    case 'rejoin':
      return live === undefined
        ? notFound(write, context.rules)
        : placement(withoutKeys(live.value), live, true, context)
    case 'replace':
      if (live === undefined) return notFound(write, context.rules)
      break
    case 'create':
      if (live !== undefined) return exists(write)
      break
    case 'recreate':
      if (live !== undefined && !isSameData(live.value, write.data)) return exists(write)
      break
    case 'upsert':
  }
  if (write.objectType !== 'identity' && context.rules.supplements(connectorId)) {
    return refused(refusalEntry('ConnectorSupplementsOnly'))
  }
  const { objectType, externalId, data } = write
  const former = formerName(write, context)
  if (former?.isLive && live !== undefined) return inUse(write)
  const isRenamed = former !== undefined && live === undefined
  const references = referenceIds({ objectType, connectorId }, data, derive)
  const names = isRenamed ? [id, former.id] : [id]
  const fault = objectType === 'orgUnit' ? parentFault(names, parentIn(references), context.parentOf) : undefined
  if (fault !== undefined) return refused(fault)
  const base = isRenamed ? former.stored : stored
  const { createdAtMs, formerIds = [] } = keptOf(base?.value, context.nowMs)
  const allFormerIds = isRenamed ? [...formerIds, former.id] : formerIds
  const object = {
    ...{ id, connectorId, objectType, externalId, data, references },
    ...(createdAtMs !== undefined && { createdAtMs }),
    ...(allFormerIds.length > 0 && { formerIds: allFormerIds }),
  }
  if (isRenamed) return renaming(object, former, stored?.version, context)
  const decision = placement(object, stored, live !== undefined, context)
  return former?.isFollowed ? { ...decision, renamed: { objectType, externalId, formerId: former.id } } : decision
}

type FormerName = {
  readonly id: string
  readonly stored: Versioned<ConnectorObject>
  readonly isLive: boolean
  /** Whether an earlier attempt has renamed the object: the name is free. */
  readonly isFollowed: boolean
}

/** What has the former name of an item; undefined when nothing has, or something that is no longer this object. */
function formerName(write: ObjectWrite, { connectorId, derive, stored }: WriteContext): FormerName | undefined {
  const previous = write.operation === 'upsert' ? write.previousExternalId : undefined
  if (previous === undefined) return undefined
  const { objectType, externalId } = write
  const id = connectorObjectId({ connectorId, objectType, externalId: previous }, derive)
  const found = stored.get(id)
  if (found === undefined) return undefined
  const { renamedTo, deletedAtMs } = found.value
  if (renamedTo === undefined) return { id, stored: found, isLive: deletedAtMs === undefined, isFollowed: false }
  const isThis = renamedTo === connectorObjectId({ connectorId, objectType, externalId }, derive)
  return isThis ? { id, stored: found, isLive: false, isFollowed: true } : undefined
}

/** What an object keeps from its stored version. A free name has nothing to keep. */
function keptOf(
  stored: ConnectorObject | undefined,
  nowMs: number,
): Pick<ConnectorObject, 'createdAtMs' | 'formerIds'> {
  return stored === undefined || stored.renamedTo !== undefined ? { createdAtMs: nowMs } : stored
}

/**
 * Gives an object another name, with its core object. The former name becomes free, and gets another core object, in
 * the same transaction. References to the former name lead to the object until they are rewritten.
 */
function renaming(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  { id: formerId, stored: former, isLive }: FormerName,
  version: string | undefined,
  context: WriteContext,
): WriteDecision {
  const { value: before } = former
  const decision = placement(object, { value: before, version: former.version }, isLive, context, formerId)
  const [own, ...others] = decision.writes
  if (own === undefined) return decision
  const { connectorId, objectType, externalId } = before
  const free: ConnectorObject = {
    ...{ id: formerId, connectorId, objectType, externalId, data: {}, references: {} },
    ...{ coreObjectId: context.newId(), deletedAtMs: context.nowMs, renamedTo: object.id },
  }
  return {
    ...decision,
    writes: [{ object: own.object, version, formerName: { object: free, version: former.version } }, ...others],
    // Objects that already refer to the new name.
    retargeted: [...decision.retargeted, object],
    renamed: { objectType, externalId: object.externalId, formerId },
  }
}

/** The object under its present and its former names, by which others may still refer to it. */
const namesOf = ({ id, objectType, formerIds = [] }: Pick<ConnectorObject, 'id' | 'objectType' | 'formerIds'>) =>
  [id, ...formerIds].map((objectId) => ({ id: objectId, objectType }))

/** Its keys are determined again. */
function withoutKeys(stored: ConnectorObject): ConnectorObject {
  const { foldedKeys: _folded, conflictKeys: _conflicts, supplements: _supplements, ...object } = stored
  return object
}

function deletion({ value, version }: Versioned<ConnectorObject>, context: WriteContext): WriteDecision {
  const { conflictKeys: _conflicts, ...kept } = value
  const deleted = { ...kept, deletedAtMs: context.nowMs }
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
function placement(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: Versioned<ConnectorObject> | undefined,
  isLive: boolean,
  context: WriteContext,
  formerId?: string,
): WriteDecision {
  const { id } = object
  const before = stored?.value
  const former = before?.coreObjectId
  const { coreObjectId, movers, conflictKeys, isTooLarge, undo } = coreObjectFor(object, before, context, formerId)
  if (isTooLarge) {
    undo()
    return refused(refusalEntry('ObjectTooLarge'))
  }
  const isRetargeted = !isLive || coreObjectId !== former
  const keys = { ...joiningKeys(object, context), ...(conflictKeys && { conflictKeys }) }
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
      ...(former === undefined ? [] : [stubOf(object, former, successorOf(object, coreObjectId, context.rules))]),
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
  formerId: string | undefined,
): Placement {
  const isAlone = object.objectType !== 'identity' || identityResolver === undefined
  return isAlone
    ? {
        coreObjectId: before?.coreObjectId ?? ownCoreObjectId(object.id, derive),
        movers: [],
        conflictKeys: before?.conflictKeys,
        isTooLarge: false,
        undo: () => undefined,
      }
    : identityResolver.place(object, formerId)
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
    writes: movers.map((object, index) => ({
      object: inCoreObject(object, object.coreObjectId, before[index]?.value),
      version: before[index]?.version,
    })),
    coreObjects: moving.flatMap((object, index) =>
      [object.coreObjectId, left[index]?.value.coreObjectId ?? []]
        .flat()
        .map((id) => stubOf(object, id, successorOf(object, object.coreObjectId, context.rules))),
    ),
    possiblyStale: left.flatMap((identity) => (identity === undefined ? [] : possiblyStaleOf(identity.value, context.rules))),
  }
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

function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([left], [right]) => (left < right ? -1 : 1)))

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function changedSince(write: ObjectWrite): WriteDecision {
  const message = `The object ${nameOf(write)} has changed since the version in If-Match`
  return refused(refusalEntry('PreconditionFailed', message))
}

function inUse(write: ObjectWrite): WriteDecision {
  return refused(
    refusalEntry('ExternalIdInUse', `The object ${nameOf(write)} and the one of its former name both exist`),
  )
}

function exists(write: ObjectWrite): WriteDecision {
  return refused(refusalEntry('ConnectorObjectExists', `The object ${nameOf(write)} already exists`))
}

/** @param deleted The soft-deleted object of the same names, if any. */
function notFound(write: ObjectWrite, rules: ConnectorRules, deleted?: ConnectorObject): WriteDecision {
  const refusal = refused(refusalEntry('ConnectorObjectNotFound', `There is no object ${nameOf(write)}`))
  return deleted === undefined ? refusal : { ...refusal, possiblyStale: possiblyStaleOf(deleted, rules) }
}

function refused(entry: RefusalEntry): WriteDecision {
  return {
    outcome: { outcome: 'refused', errors: [entry] },
    writes: [],
    coreObjects: [],
    retargeted: [],
    possiblyStale: [],
  }
}
