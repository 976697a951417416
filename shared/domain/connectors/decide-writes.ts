import type { CoreObjectTrace } from '../core/merged-core-object.ts'
import { type RefusalEntry, refusalEntry } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { ObjectWrite } from './batch-item.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DeriveId,
  ownCoreObjectId,
  referenceIds,
} from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import { type ParentOf, parentFault, parentIn } from './parent-cycle.ts'
import type { People, Placement } from './people.ts'

/** What became of one item. `id` is the connector object's. */
export type ItemOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted'; readonly id: string }
  | { readonly outcome: 'refused'; readonly errors: readonly RefusalEntry[] }

/** What the decision knows of the world. */
export type Surroundings = {
  readonly connectorId: string
  /** The objects that the items name, by id. */
  readonly stored: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** The identities around those of the items; undefined where there is nobody to join. */
  readonly people: People | undefined
  /** The version of a stored object; undefined for a new one. */
  versionOf(id: string): string | undefined
  /** To which core object a stored object belonged before the items. */
  coreObjectOf(id: string): string | undefined
  readonly parentOf: ParentOf
  readonly derive: DeriveId
  readonly nowMs: number
}

export type Decision = {
  readonly outcome: ItemOutcome
  /** The item's object and, when others have to come to its core object, these. Empty when nothing changes. */
  readonly writes: readonly ConnectorObjectWrite[]
  /** Core objects that may have become different. */
  readonly coreObjects: readonly CoreObjectTrace[]
  /** Objects to which references lead elsewhere from now on. */
  readonly moved: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
  /** Where nothing is written: an object that an earlier write may have left without bringing its core objects up to date. */
  readonly left?: LeftObject
}

type LeftObject = Pick<ConnectorObject, 'id' | 'objectType'> & {
  readonly coreObjects: readonly CoreObjectTrace[]
}

/** Decides on one item. Pure but for `people`, who remember what was decided. */
export function decideWrite(write: ObjectWrite, around: Surroundings): Decision {
  const { connectorId, derive } = around
  const id = connectorObjectId({ ...write, connectorId }, derive)
  const stored = around.stored.get(id)
  const live = stored?.value.deletedAtMs === undefined ? stored : undefined
  switch (write.operation) {
    case 'delete':
      return live === undefined ? notFound(write, stored?.value) : deletion(live, around)
    case 'rejoin':
      return live === undefined ? notFound(write) : placed(live.value, live, true, around)
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
  return placed({ id, connectorId, objectType, externalId, data, references }, stored, live !== undefined, around)
}

function deletion({ value, version }: Versioned<ConnectorObject>, around: Surroundings): Decision {
  const object = { ...value, deletedAtMs: around.nowMs }
  const movers = value.objectType === 'identity' ? (around.people?.remove(object) ?? []) : []
  const others = moves(movers, around)
  return {
    outcome: { outcome: 'deleted', id: value.id },
    writes: [{ object, version }, ...others.writes],
    coreObjects: [traceOf(value, value.coreObjectId), ...others.coreObjects],
    moved: [value, ...movers],
  }
}

/** Finds the core object for a new, restored or written object, and who has to move for it. */
function placed(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: Versioned<ConnectorObject> | undefined,
  isLive: boolean,
  around: Surroundings,
): Decision {
  const { id } = object
  const former = stored?.value.coreObjectId
  const { coreObjectId, movers } = coreObjectFor(object, former, around)
  const hasMoved = !isLive || coreObjectId !== former
  if (stored !== undefined && !hasMoved && movers.length === 0 && isSameData(stored.value, object.data)) {
    return { outcome: { outcome: 'unchanged', id }, ...nothingOf(stored.value) }
  }
  const others = moves(movers, around)
  return {
    outcome: { outcome: isLive ? 'updated' : 'created', id },
    writes: [
      {
        object: { ...object, coreObjectId, ...cameFrom(former, coreObjectId, stored?.value) },
        version: stored?.version,
      },
      ...others.writes,
    ],
    coreObjects: [
      traceOf(object, coreObjectId),
      ...(former === undefined ? [] : [traceOf(object, former)]),
      ...others.coreObjects,
    ],
    moved: [...(hasMoved ? [object] : []), ...movers],
  }
}

function coreObjectFor(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  current: string | undefined,
  { people, derive }: Surroundings,
): Placement {
  const isAlone = object.objectType !== 'identity' || people === undefined
  return isAlone ? { coreObjectId: current ?? ownCoreObjectId(object.id, derive), movers: [] } : people.place(object)
}

function moves(
  movers: readonly ConnectorObject[],
  { versionOf, coreObjectOf }: Surroundings,
): Pick<Decision, 'writes' | 'coreObjects'> {
  const written = (object: ConnectorObject): ConnectorObject => {
    return { ...object, ...cameFrom(coreObjectOf(object.id), object.coreObjectId, object) }
  }
  return {
    writes: movers.map((object) => ({ object: written(object), version: versionOf(object.id) })),
    coreObjects: movers.flatMap((object) =>
      [object.coreObjectId, coreObjectOf(object.id) ?? []].flat().map((coreObjectId) => traceOf(object, coreObjectId)),
    ),
  }
}

const traceOf = ({ objectType, externalId }: Omit<ConnectorObject, 'coreObjectId'>, id: string): CoreObjectTrace => ({
  id,
  objectType,
  externalId,
})

/** What an object remembers of the core object that it last left, which has to become what it is without it. */
function cameFrom(
  former: string | undefined,
  coreObjectId: string,
  before: ConnectorObject | undefined,
): Pick<ConnectorObject, 'formerCoreObjectId'> {
  const left = former === coreObjectId ? before?.formerCoreObjectId : former
  return left === undefined ? {} : { formerCoreObjectId: left }
}

/** Nothing is written of an object that is as it should be. */
function nothingOf(object: ConnectorObject): Omit<Decision, 'outcome'> {
  const { id, objectType, coreObjectId, formerCoreObjectId } = object
  const coreObjects = [coreObjectId, formerCoreObjectId ?? []].flat().map((coreId) => traceOf(object, coreId))
  return { writes: [], coreObjects: [], moved: [], left: { id, objectType, coreObjects } }
}

function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1)))

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function exists(write: ObjectWrite): Decision {
  return refused(refusalEntry('ConnectorObjectExists', `There already is ${nameOf(write)}`))
}

/** @param deleted the object of these names that is there no more, but is remembered. */
function notFound(write: ObjectWrite, deleted?: ConnectorObject): Decision {
  const refusal = refused(refusalEntry('ConnectorObjectNotFound', `There is no ${nameOf(write)}`))
  return deleted === undefined ? refusal : { ...refusal, ...nothingOf(deleted) }
}

function refused(entry: RefusalEntry): Decision {
  return { outcome: { outcome: 'refused', errors: [entry] }, writes: [], coreObjects: [], moved: [] }
}
