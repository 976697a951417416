import { ATTRIBUTES, type AttributeKind, attributeDefinition, OBJECT_TYPES, type ObjectType } from './core-object.ts'

/** An attribute of one of the three objects in a row. */
export type RowAttribute = { readonly objectType: ObjectType; readonly attribute: string }

/** Attributes of the row's identity whose schema name has no prefix. */
const UNPREFIXED = new Set(['directMemberOfDirectoryGroups', 'assignedLicenses'])

/** Attributes of every object that `ATTRIBUTES` does not list. */
const OWN_KINDS: ReadonlyMap<string, AttributeKind> = new Map([
  ['id', 'guid'],
  ['externalId', 'string'],
])

/**
 * The kind of any attribute a row can have, `id`, `externalId` and custom ones included; undefined for an unknown one.
 */
export function attributeKind(objectType: ObjectType, attribute: string): AttributeKind | undefined {
  return OWN_KINDS.get(attribute) ?? attributeDefinition(objectType, attribute)?.kind
}

/** The names of all attributes of a type, custom ones excepted. */
export function attributeNames(objectType: ObjectType): readonly string[] {
  return [...OWN_KINDS.keys(), ...Object.keys(ATTRIBUTES[objectType])]
}

/** The name of an attribute in conditions: `identityDisplayName`, `relationshipCustom/shift`. */
export function schemaName(objectType: ObjectType, attribute: string): string {
  if (objectType === 'identity' && UNPREFIXED.has(attribute)) return attribute
  return objectType + attribute.charAt(0).toUpperCase() + attribute.slice(1)
}

/** The inverse of `schemaName`; undefined when no attribute has this name. */
export function attributeNamed(name: string): RowAttribute | undefined {
  if (UNPREFIXED.has(name)) return { objectType: 'identity', attribute: name }
  const objectType = OBJECT_TYPES.find((type) => name.startsWith(type))
  if (objectType === undefined) return undefined
  const rest = name.slice(objectType.length)
  const attribute = rest.charAt(0).toLowerCase() + rest.slice(1)
  // The round trip rejects near misses such as `identityid` and `identityAssignedLicenses`.
  if (attributeKind(objectType, attribute) === undefined || schemaName(objectType, attribute) !== name) return undefined
  return { objectType, attribute }
}
