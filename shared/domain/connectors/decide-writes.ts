import { type RefusalEntry, refusalEntry } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { ObjectWrite } from './batch-item.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DeriveId,
  ownCoreObjectId,
  type ReferenceIds,
  referenceIds,
} from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import { decideJoining, joinKeys, type RankOf } from './joining.ts'
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
  /** Live identities that share a key with a written one. */
  readonly joinable: readonly Versioned<ConnectorObject>[]
  /** All that contribute, or did, to the core objects that the written identities have or would make. */
  readonly mates: readonly ConnectorObject[]
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
  readonly coreObjectIds: readonly string[]
  /** Objects to which references lead elsewhere from now on. */
  readonly moved: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
}

/** Decides on one item. Pure: the same surroundings give the same decision. */
export function decideWrite(write: ObjectWrite, around: Surroundings): Decision {
  const id = connectorObjectId({ ...write, connectorId: around.connectorId }, around.derive)
  const stored = around.stored.get(id)
  const live = stored !== undefined && stored.value.deletedAtMs === undefined ? stored : undefined
  if (write.operation === 'delete' || write.operation === 'replace') {
    if (live === undefined) return refused(refusalEntry('ConnectorObjectNotFound', `There is no ${nameOf(write)}`))
  }
  if (write.operation === 'delete') return deletion(live as Versioned<ConnectorObject>, around)
  if (write.operation === 'create' && live !== undefined) {
    return refused(refusalEntry('ConnectorObjectExists', `There already is ${nameOf(write)}`))
  }
  const references = referenceIds({ ...write, connectorId: around.connectorId }, write.data, around.derive)
  const fault = write.objectType === 'orgUnit' ? parentFault(id, parentIn(references), around.parentOf) : undefined
  if (fault !== undefined) return refused(fault)
  if (live !== undefined && isSameData(live.value, write.data)) {
    return { outcome: { outcome: 'unchanged', id }, writes: [], coreObjectIds: [live.value.coreObjectId], moved: [] }
  }
  const { connectorId } = around
  const { objectType, externalId, data } = write
  return placed({ id, connectorId, objectType, externalId, data, references }, stored, live !== undefined, around)
}

export const parentIn = (references: ReferenceIds): string | undefined => references.parent as string | undefined

function deletion({ value, version }: Versioned<ConnectorObject>, { nowMs }: Surroundings): Decision {
  return {
    outcome: { outcome: 'deleted', id: value.id },
    writes: [{ object: { ...value, deletedAtMs: nowMs }, version }],
    coreObjectIds: [value.coreObjectId],
    moved: [value],
  }
}

/** Finds the core object for a new, restored or changed object, and who has to move for it. */
function placed(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: Versioned<ConnectorObject> | undefined,
  isLive: boolean,
  around: Surroundings,
): Decision {
  const former = stored?.value.coreObjectId
  const { coreObjectId, gathered } = coreObjectFor(object, stored?.value, isLive, around)
  const writes = [
    { object: { ...object, coreObjectId }, version: stored?.version },
    ...gathered.map(({ value, version }) => ({ object: { ...value, coreObjectId }, version })),
  ]
  const hasMoved = !isLive || coreObjectId !== former
  const left = [...(former === undefined ? [] : [former]), ...gathered.map(({ value }) => value.coreObjectId)]
  return {
    outcome: { outcome: isLive ? 'updated' : 'created', id: object.id },
    writes,
    coreObjectIds: [...new Set([coreObjectId, ...left])],
    moved: [...(hasMoved ? [object] : []), ...gathered.map(({ value }) => value)],
  }
}

function coreObjectFor(
  object: Omit<ConnectorObject, 'coreObjectId'>,
  stored: ConnectorObject | undefined,
  isLive: boolean,
  around: Surroundings,
): { coreObjectId: string; gathered: readonly Versioned<ConnectorObject>[] } {
  const current = stored?.coreObjectId
  const nobody = { gathered: [] }
  if (object.objectType !== 'identity' || (stored !== undefined && isLive && !hasOtherKeys(stored, object))) {
    return { coreObjectId: current ?? ownCoreObject(object.id, around), ...nobody }
  }
  const others = around.joinable.map(({ value }) => value)
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
        gathered: around.joinable.filter(({ value }) => joining.others.includes(value)),
      }
  }
}

/** The core object derived from the object's own id; another where that one has become someone else's. */
function ownCoreObject(id: string, around: Surroundings): string {
  const own = ownCoreObjectId(id, around.derive)
  return matesOf(own, id, around).length === 0 ? own : around.newId()
}

const matesOf = (coreObjectId: string | undefined, id: string, { mates }: Surroundings): readonly ConnectorObject[] =>
  mates.filter((mate) => mate.coreObjectId === coreObjectId && mate.id !== id)

export function hasOtherKeys(one: Pick<ConnectorObject, 'data'>, other: Pick<ConnectorObject, 'data'>): boolean {
  const [keys, otherKeys] = [joinKeys(one.data), joinKeys(other.data)]
  return keys.nin !== otherKeys.nin || keys.directoryObjectId !== otherKeys.directoryObjectId
}

function isSameData({ data }: ConnectorObject, other: ConnectorObject['data']): boolean {
  return canonical(data) === canonical(other)
}

const canonical = (data: ConnectorObject['data']): string =>
  JSON.stringify(Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1)))

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function refused(entry: RefusalEntry): Decision {
  return { outcome: { outcome: 'refused', errors: [entry] }, writes: [], coreObjectIds: [], moved: [] }
}
