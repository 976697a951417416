import { normalisedText } from '../../kernel/normalised-text.ts'
import type { Attributes, AttributeValue, CoreObject, ObjectType, Reference } from '../core/core-object.ts'
import { attributeDefinition } from '../core/core-object.ts'
import type { ObjectData } from './connector-object.ts'
import type { IdentityChange } from './identity-change.ts'
import type { UnresolvedReference } from './unresolved-reference.ts'

/** A core object as merged, without the write time that the store adds. */
export type MergedCoreObject = Omit<CoreObject, 'lastUpdatedS'> & {
  /** Ids of the connector objects it was merged from, those of the oldest connector first. */
  readonly contributors: readonly string[]
  /** Time of the last account change, by the writer's clock; absent before the first change. */
  readonly accountChangedAtMs?: number
  /** The account that the identity claims and another one holds. `attributes` has no `directoryObjectId` then. */
  readonly claimedAccount?: string
  /**
   * Since when the identity claims its account, by the writer's clock; absent for one written before this was stored.
   */
  readonly accountSinceMs?: number
  /**
   * The core object that its former contributors belong to now; absent in a live object, and in one that was deleted.
   */
  readonly mergedInto?: string
  /** Set in a live object that was deleted before. */
  readonly restored?: true
  /** References of its contributors that lead to no object; absent when there are none. */
  readonly unresolved?: readonly UnresolvedReference[]
  /** Of an identity: its last changes, oldest first. */
  readonly changes?: readonly IdentityChange[]
}

/** The attributes that one connector contributes to a core object. */
export type Contribution = {
  readonly connectorObjectId: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data: ObjectData
  /** Returns the ids of the core objects that an attribute refers to, in order, without those that do not exist. */
  resolve(name: string): readonly string[]
}

/**
 * Merges contributions, which are ordered by the creation of their connectors. An attribute takes the value of the
 * first contribution that has it. References to objects that do not exist are left out.
 */
export function mergedCoreObject(
  id: string,
  contributions: readonly [Contribution, ...Contribution[]],
): MergedCoreObject {
  const attributes: Record<string, AttributeValue> = {}
  for (const contribution of contributions) {
    for (const name of Object.keys(contribution.data)) {
      if (Object.hasOwn(attributes, name)) continue
      const value = resolvedValue(contribution, name)
      if (value !== undefined) attributes[name] = value
    }
  }
  const [{ objectType, externalId }] = contributions
  const contributors = contributions.map(({ connectorObjectId }) => connectorObjectId)
  return { id, objectType, externalId, attributes: sortedByName(attributes), contributors, deleted: false }
}

/** Bytes of the JSON of a core object's attributes. Cosmos accepts documents of 2 MB. */
const CORE_OBJECT_BYTES_COUNT = 1024 * 1024

/** Whether these attributes are too large for one core object. */
export function exceedsCoreObject(attributes: Readonly<Record<string, unknown>>): boolean {
  return Buffer.byteLength(JSON.stringify(attributes)) > CORE_OBJECT_BYTES_COUNT
}

/** The members of a core object that are known without reading it. */
export type CoreObjectStub = Pick<MergedCoreObject, 'id' | 'objectType' | 'externalId'> & {
  readonly attributes?: Attributes
  /** The core object to which a contributor has moved from this one. */
  readonly mergedInto?: string | undefined
}

/**
 * Returns the soft-deleted form of a core object without contributions. It keeps the last attributes, because removing
 * the object from a directory group requires its account. When its contributors have moved, it names the core object
 * that they belong to now: what the one had belongs to the other.
 */
export function deletedCoreObject(
  { id, objectType, externalId, attributes = {} }: CoreObjectStub,
  mergedInto: string | undefined,
): MergedCoreObject {
  const deleted: MergedCoreObject = { id, objectType, externalId, attributes, contributors: [], deleted: true }
  return mergedInto === undefined ? deleted : { ...deleted, mergedInto }
}

/** Whether a stored core object equals the merge of its contributions. */
export function isSameCoreObject(left: MergedCoreObject, right: MergedCoreObject): boolean {
  return (
    left.deleted === right.deleted &&
    left.mergedInto === right.mergedInto &&
    left.externalId === right.externalId &&
    left.claimedAccount === right.claimedAccount &&
    JSON.stringify(left.unresolved ?? []) === JSON.stringify(right.unresolved ?? []) &&
    JSON.stringify(left.contributors) === JSON.stringify(right.contributors) &&
    JSON.stringify(sortedByName(left.attributes)) === JSON.stringify(sortedByName(right.attributes))
  )
}

/** Whether a write only normalises the texts of a core object that was stored before texts were normalised. */
export function onlyNormalises(before: MergedCoreObject | undefined, after: MergedCoreObject): boolean {
  if (before === undefined || isSameCoreObject(before, after)) return false
  const attributes = Object.fromEntries(
    Object.entries(before.attributes).map(([name, value]) => [name, withNormalisedText(value)]),
  )
  return isSameCoreObject({ ...before, attributes }, after)
}

function withNormalisedText(value: AttributeValue): AttributeValue {
  return typeof value === 'string' ? normalisedText(value) : value
}

/**
 * Returns the object with what its document tells those who have never read the previous one:
 *
 * - the time of the last account change, which is now if the account differs from before: the groups must still be
 *   updated. A restored object is compared with its last form before the deletion.
 * - whether it was restored: what ended with the deletion must still come back.
 */
export function withFormerState(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  nowMs: number,
): MergedCoreObject {
  if (before === undefined) return object
  const hasChanged = accountSource(before) !== accountSource(object)
  const accountChangedAtMs = hasChanged ? nowMs : before.accountChangedAtMs
  const isRestored = !object.deleted && (before.deleted || before.restored)
  return {
    ...object,
    ...(accountChangedAtMs !== undefined && { accountChangedAtMs }),
    ...(isRestored && { restored: true }),
  }
}

/**
 * The attribute that determines the directory account of an object: the identity's own, or the holder of a position.
 */
function accountSource({ objectType, attributes }: MergedCoreObject): string | undefined {
  if (objectType === 'identity') return attributes.directoryObjectId as string | undefined
  return objectType === 'relationship' ? (attributes.identity as Reference | undefined)?.objectId : undefined
}

function resolvedValue(contribution: Contribution, name: string): AttributeValue | undefined {
  const { objectType, data, resolve } = contribution
  const value = data[name]
  const definition = attributeDefinition(objectType, name)
  if (value === undefined || definition === undefined) return undefined
  // Contributions that were stored before texts were normalised keep them as they were sent.
  if (definition.to === undefined) return withNormalisedText(value as AttributeValue)
  const references = [...new Set(resolve(name))].map((objectId) => ({ objectId }))
  return definition.kind === 'references' && references.length > 0 ? references : references[0]
}

/** Sorts attributes by name, so that the order in which they were sent makes no difference. */
function sortedByName(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).sort(([left], [right]) => (left < right ? -1 : 1)))
}
