import type { Attributes, AttributeValue, CoreObject, ObjectType, Reference } from '../core/core-object.ts'
import { attributeDefinition } from '../core/core-object.ts'
import type { ObjectData } from './connector-object.ts'

/** A core object as merged, before the store has given it a time. */
export type MergedCoreObject = Omit<CoreObject, 'lastUpdatedS'> & {
  /** The ids of the connector objects it was merged from; the one whose connector was created first comes first. */
  readonly contributors: readonly string[]
  /** When another account last came to stand behind the object, by the writer's clock; absent until that happens. */
  readonly accountMovedAtMs?: number
}

/** What one connector says of the object. */
export type Contribution = {
  readonly connectorObjectId: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data: ObjectData
  /** The ids of the core objects behind an attribute's references, in their order; those that do not exist are left out. */
  resolve(name: string): readonly string[]
}

/**
 * The core object behind its contributions, which come in the order in which their connectors were created: attributes
 * of the first win, the others fill what is missing. References to what does not exist are left out.
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
  return { id, objectType, externalId, attributes: inOrder(attributes), contributors, deleted: false }
}

/** What is known of a core object without reading it. */
export type CoreObjectStub = Pick<MergedCoreObject, 'id' | 'objectType' | 'externalId'> & {
  readonly attributes?: Attributes
}

/**
 * What stays of a core object that nobody contributes to any more: that it went, and how it was last. Whoever takes it
 * out of a directory group has to know whose account it stood for.
 */
export function deletedCoreObject({ id, objectType, externalId, attributes = {} }: CoreObjectStub): MergedCoreObject {
  return { id, objectType, externalId, attributes, contributors: [], deleted: true }
}

/** Whether a stored core object already is what its contributions make of it. */
export function isSameCoreObject(one: MergedCoreObject, other: MergedCoreObject): boolean {
  return (
    one.deleted === other.deleted &&
    one.externalId === other.externalId &&
    JSON.stringify(one.contributors) === JSON.stringify(other.contributors) &&
    JSON.stringify(inOrder(one.attributes)) === JSON.stringify(inOrder(other.attributes))
  )
}

/**
 * The object with the time at which its account last changed: now, if it has another one than it had before. Groups have
 * to follow such a change also where it is first seen long after, by who never saw the object as it was. Whoever is
 * created has the account that they came with; what is deleted and comes back is compared with what it was last.
 */
export function withAccountChange(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  nowMs: number,
): MergedCoreObject {
  if (before === undefined) return object
  const hasMoved = accountSource(before) !== accountSource(object)
  const accountMovedAtMs = hasMoved ? nowMs : before.accountMovedAtMs
  return accountMovedAtMs === undefined ? object : { ...object, accountMovedAtMs }
}

/** What tells whose directory account an object stands for: an identity's own, or who holds a position. */
function accountSource({ objectType, attributes }: MergedCoreObject): string | undefined {
  if (objectType === 'identity') return attributes.directoryObjectId as string | undefined
  return objectType === 'relationship' ? (attributes.identity as Reference | undefined)?.objectId : undefined
}

function resolvedValue(contribution: Contribution, name: string): AttributeValue | undefined {
  const { objectType, data, resolve } = contribution
  const value = data[name]
  const definition = attributeDefinition(objectType, name)
  if (value === undefined || definition === undefined) return undefined
  if (definition.to === undefined) return value as AttributeValue
  const references = [...new Set(resolve(name))].map((objectId) => ({ objectId }))
  return definition.kind === 'references' && references.length > 0 ? references : references[0]
}

/** By name, so that the order in which attributes were given makes no difference. */
function inOrder(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1)))
}
