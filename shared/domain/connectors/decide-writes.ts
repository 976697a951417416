import type { CoreObjectTrace } from '../core/merged-core-object.ts'
import { type RefusalEntry, refusalEntry } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { ObjectWrite } from './batch-item.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DeriveId,
  type ObjectData,
  ownCoreObjectId,
  type ReferenceIds,
  referenceIds,
} from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import { decideJoining, type RankOf } from './joining.ts'
import { type ParentOf, parentFault } from './parent-cycle.ts'

/** What became of one item. `id` is the connector object's. */
export type ItemOutcome =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted'; readonly id: string }
  | { readonly outcome: 'refused'; readonly errors: readonly RefusalEntry[] }

/** What the decision knows of the world. */
export type Surroundings = {
  readonly connectorId: string
  /** The objects that the items name, by id. */
  readonly stored: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** Live identities that share a key with this data. */
  joinableTo(data: ObjectData): readonly Versioned<ConnectorObject>[]
  /** All that contribute, or did, to one of the core objects that the written identities have or would make. */
  matesIn(coreObjectId: string): readonly ConnectorObject[]
  readonly parentOf: ParentOf
  readonly rankOf: RankOf
  readonly derive: DeriveId
  newId(): string
  readonly nowMs: number
}

export type Decision = {
  readonly outcome: ItemOutcome
  /** The item's object and, when others have to come to its core object, these. Empty when nothing changes. */
  readonly writes: readonly ConnectorObjectWrite[]
  /** Core objects that may have become different, or that a crash may have left behind. */
  readonly coreObjects: readonly CoreObjectTrace[]
  /** Objects to which references lead elsewhere from now on. */
  readonly moved: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
}

/** Decides on one item. Pure: the same surroundings give the same decision. */
export function decideWrite(write: ObjectWrite, around: Surroundings): Decision {
  const { connectorId, derive } = around
  const id = connectorObjectId({ ...write, connectorId }, derive)
  const stored = around.stored.get(id)
  const live = stored?.value.deletedAtMs === undefined ? stored : undefined
  switch (write.operation) {
    case 'delete':
      return live === undefined ? notFound(write) : deletion(live, around)
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

export const parentIn = (references: ReferenceIds): string | undefined => references.parent as string | undefined

function deletion({ value, version }: Versioned<ConnectorObject>, { nowMs }: Surroundings): Decision {
  return {
    outcome: { outcome: 'deleted', id: value.id },
    writes: [{ object: { ...value, deletedAtMs: nowMs }, version }],
    coreObjects: [traceOf(value, value.coreObjectId)],
    moved: [value],
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
  const { coreObjectId, gathered } = coreObjectFor(object, former, around)
  const hasMoved = !isLive || coreObjectId !== former
  if (stored !== undefined && !hasMoved && gathered.length === 0 && isSameData(stored.value, object.data)) {
    const coreObjects = [traceOf(object, coreObjectId)]
    return { outcome: { outcome: 'unchanged', id }, writes: [], coreObjects, moved: [] }
  }
  return {
    outcome: { outcome: isLive ? 'updated' : 'created', id },
    writes: [
      { object: { ...object, coreObjectId }, version: stored?.version },
      ...gathered.map(({ value, version }) => ({ object: { ...value, coreObjectId }, version })),
    ],
    coreObjects: [
      traceOf(object, coreObjectId),
      ...(former === undefined ? [] : [traceOf(object, former)]),
      ...gathered.map(({ value }) => traceOf(value, value.coreObjectId)),
    ],
    moved: [...(hasMoved ? [object] : []), ...gathered.map(({ value }) => value)],
  }
}

function coreObjectFor(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  current: string | undefined,
  around: Surroundings,
): { coreObjectId: string; gathered: readonly Versioned<ConnectorObject>[] } {
  const nobody = { gathered: [] }
  if (object.objectType !== 'identity') return { coreObjectId: current ?? ownCoreObject(object.id, around), ...nobody }
  const joinable = around.joinableTo(object.data)
  const others = joinable.map(({ value }) => value)
  const isShared = matesOf(current, object.id, around).some(({ deletedAtMs }) => deletedAtMs === undefined)
  const joining = decideJoining(object, current, others, isShared, around.rankOf)
  switch (joining.outcome) {
    case 'join':
      return { coreObjectId: joining.coreObjectId, ...nobody }
    case 'alone':
      return { coreObjectId: ownCoreObject(object.id, around), ...nobody }
    case 'stay':
      return { coreObjectId: current as string, ...nobody }
    case 'gather':
      return {
        coreObjectId: current as string,
        gathered: joinable.filter(({ value }) => joining.others.includes(value)),
      }
  }
}

/** The core object derived from the object's own id; another where that one has become someone else's. */
function ownCoreObject(id: string, around: Surroundings): string {
  const own = ownCoreObjectId(id, around.derive)
  return matesOf(own, id, around).length === 0 ? own : around.newId()
}

const matesOf = (coreObjectId: string | undefined, id: string, around: Surroundings): readonly ConnectorObject[] =>
  coreObjectId === undefined ? [] : around.matesIn(coreObjectId).filter((mate) => mate.id !== id)

const traceOf = ({ objectType, externalId }: Omit<ConnectorObject, 'coreObjectId'>, id: string): CoreObjectTrace => ({
  id,
  objectType,
  externalId,
})

function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1)))

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function exists(write: ObjectWrite): Decision {
  return refused(refusalEntry('ConnectorObjectExists', `There already is ${nameOf(write)}`))
}

function notFound(write: ObjectWrite): Decision {
  return refused(refusalEntry('ConnectorObjectNotFound', `There is no ${nameOf(write)}`))
}

function refused(entry: RefusalEntry): Decision {
  return { outcome: { outcome: 'refused', errors: [entry] }, writes: [], coreObjects: [], moved: [] }
}
