import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObjectWrite } from './connector-object.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DeriveId,
  ownCoreObjectId,
  referenceIds,
} from './connector-object.ts'
import type { IdentityResolver, Placement } from './identity-resolver.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import type { ObjectWrite } from './object-input.ts'
import { type ParentOf, parentFault, parentIn } from './org-tree.ts'

/** What became of one item. `id` is the connector object's. */
export type ItemOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted'; readonly id: string }
  | { readonly outcome: 'refused'; readonly errors: readonly RefusalEntry[] }

/** What the decision knows of the world. */
export type WriteContext = {
  readonly connectorId: string
  /** The objects that the items name, by id. */
  readonly stored: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** The identities around those of the items; undefined where there is nobody to join. */
  readonly identityResolver: IdentityResolver | undefined
  /** One of them, or of the people around them, as it was before the items; undefined for a new one. */
  before(id: string): Versioned<ConnectorObject> | undefined
  readonly parentOf: ParentOf
  readonly derive: DeriveId
  readonly nowMs: number
}

export type WriteDecision = {
  readonly outcome: ItemOutcome
  /** The item's object and, when others have to come to its core object, these. Empty when nothing changes. */
  readonly writes: readonly ConnectorObjectWrite[]
  /** Core objects that may have become different. */
  readonly coreObjects: readonly CoreObjectStub[]
  /** Objects to which references lead elsewhere from now on. */
  readonly retargeted: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
  /** Objects of which an earlier write, if it died half-way, may have left core objects as they were. */
  readonly possiblyStale: readonly PossiblyStaleObject[]
}

type PossiblyStaleObject = Pick<ConnectorObject, 'id' | 'objectType'> & {
  readonly coreObjects: readonly CoreObjectStub[]
}

/**
 * Core objects that an object remembers to have left. More than one matters only where one write of it after the other
 * died half-way.
 */
const FORMERS_KEPT_COUNT = 8

/** Decides on one item. Pure but for `people`, who remember what was decided. */
export function decideWrite(write: ObjectWrite, around: WriteContext): WriteDecision {
  const { connectorId, derive } = around
  const id = connectorObjectId({ ...write, connectorId }, derive)
  const stored = around.stored.get(id)
  const live = stored?.value.deletedAtMs === undefined ? stored : undefined
  switch (write.operation) {
    case 'delete':
      return live === undefined ? notFound(write, stored?.value) : deletion(live, around)
    case 'rejoin':
      return live === undefined ? notFound(write) : placement(live.value, live, true, around)
    case 'replace':
      if (live === undefined) return notFound(write)
      break
    case 'create':
      if (live !== undefined) return exists(write)
      break
    case 'recreate':
      if (live !== undefined && !isSameData(live.value, write.data)) return exists(write)
      break
    case 'upsert':
  }
  const { objectType, externalId, data } = write
  const references = referenceIds({ objectType, connectorId }, data, derive)
  const fault = objectType === 'orgUnit' ? parentFault(id, parentIn(references), around.parentOf) : undefined
  if (fault !== undefined) return refused(fault)
  return placement({ id, connectorId, objectType, externalId, data, references }, stored, live !== undefined, around)
}

function deletion({ value, version }: Versioned<ConnectorObject>, around: WriteContext): WriteDecision {
  const object = { ...value, deletedAtMs: around.nowMs }
  const movers = value.objectType === 'identity' ? (around.identityResolver?.remove(object) ?? []) : []
  const others = moverWrites(movers, around)
  return {
    outcome: { outcome: 'deleted', id: value.id },
    writes: [{ object, version }, ...others.writes],
    coreObjects: [stubOf(value, value.coreObjectId), ...others.coreObjects],
    retargeted: [value, ...movers],
    possiblyStale: [possiblyStaleOf(value), ...others.possiblyStale],
  }
}

/** Finds the core object for a new, restored or written object, and who has to move for it. */
function placement(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: Versioned<ConnectorObject> | undefined,
  isLive: boolean,
  around: WriteContext,
): WriteDecision {
  const { id } = object
  const before = stored?.value
  const former = before?.coreObjectId
  const { coreObjectId, movers } = coreObjectFor(object, former, around)
  const hasMoved = !isLive || coreObjectId !== former
  if (before !== undefined && !hasMoved && movers.length === 0 && isSameData(before, object.data)) {
    return {
      outcome: { outcome: 'unchanged', id },
      writes: [],
      coreObjects: [],
      retargeted: [],
      possiblyStale: [possiblyStaleOf(before)],
    }
  }
  const others = moverWrites(movers, around)
  return {
    outcome: { outcome: isLive ? 'updated' : 'created', id },
    writes: [{ object: inCoreObject(object, coreObjectId, before), version: stored?.version }, ...others.writes],
    coreObjects: [
      stubOf(object, coreObjectId),
      ...(former === undefined ? [] : [stubOf(object, former)]),
      ...others.coreObjects,
    ],
    retargeted: [...(hasMoved ? [object] : []), ...movers],
    possiblyStale: [...(before === undefined ? [] : [possiblyStaleOf(before)]), ...others.possiblyStale],
  }
}

function coreObjectFor(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  current: string | undefined,
  { identityResolver, derive }: WriteContext,
): Placement {
  const isAlone = object.objectType !== 'identity' || identityResolver === undefined
  return isAlone
    ? { coreObjectId: current ?? ownCoreObjectId(object.id, derive), movers: [] }
    : identityResolver.place(object)
}

function moverWrites(
  movers: readonly ConnectorObject[],
  around: WriteContext,
): Pick<WriteDecision, 'writes' | 'coreObjects' | 'possiblyStale'> {
  const before = movers.map(({ id }) => around.before(id))
  return {
    writes: movers.map((object, index) => ({
      object: inCoreObject(object, object.coreObjectId, before[index]?.value),
      version: before[index]?.version,
    })),
    coreObjects: movers.flatMap((object, index) =>
      [object.coreObjectId, before[index]?.value.coreObjectId ?? []].flat().map((id) => stubOf(object, id)),
    ),
    possiblyStale: before.flatMap((each) => (each === undefined ? [] : [possiblyStaleOf(each.value)])),
  }
}

const stubOf = ({ objectType, externalId }: Omit<ConnectorObject, 'coreObjectId'>, id: string): CoreObjectStub => ({
  id,
  objectType,
  externalId,
})

/** An object of a core object. It remembers those that it has left, which have to become what they are without it. */
function inCoreObject(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  coreObjectId: string,
  before: ConnectorObject | undefined,
): ConnectorObject {
  const left = new Set(before === undefined ? [] : coreObjectsOf(before))
  left.delete(coreObjectId)
  const formerCoreObjectIds = [...left].slice(0, FORMERS_KEPT_COUNT)
  return { ...object, coreObjectId, ...(formerCoreObjectIds.length > 0 && { formerCoreObjectIds }) }
}

function possiblyStaleOf(object: ConnectorObject): PossiblyStaleObject {
  const { id, objectType } = object
  return { id, objectType, coreObjects: coreObjectsOf(object).map((coreObjectId) => stubOf(object, coreObjectId)) }
}

/** The one to which it belongs and those that it has left, the latest first. */
const coreObjectsOf = ({ coreObjectId, formerCoreObjectIds = [] }: ConnectorObject): string[] => [
  coreObjectId,
  ...formerCoreObjectIds,
]

function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1)))

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function exists(write: ObjectWrite): WriteDecision {
  return refused(refusalEntry('ConnectorObjectExists', `There already is ${nameOf(write)}`))
}

/** @param deleted the object of these names that is there no more, but is remembered. */
function notFound(write: ObjectWrite, deleted?: ConnectorObject): WriteDecision {
  const refusal = refused(refusalEntry('ConnectorObjectNotFound', `There is no ${nameOf(write)}`))
  return deleted === undefined ? refusal : { ...refusal, possiblyStale: [possiblyStaleOf(deleted)] }
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
