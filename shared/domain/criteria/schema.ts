import {
  ATTRIBUTES,
  type AttributeKind,
  attributeDefinition,
  CUSTOM_ATTRIBUTE_PREFIX,
  OBJECT_TYPES,
  type ObjectType,
} from '../core/core-object.ts'

/** What a condition may compare a field as. Decisions, section 5. */
export type AttributeType = 'String' | 'Integer' | 'Boolean' | 'DateTime' | 'Guid' | 'List' | 'ExternalList' | 'Array'

/** Every name that a condition may use, with its type. */
export type ConditionSchema = ReadonlyMap<string, AttributeType>

/** Where the value behind a schema name comes from: one object of the row, or the membership of other collections. */
export type SchemaSource =
  | { readonly kind: 'attribute'; readonly objectType: ObjectType; readonly attribute: string }
  | { readonly kind: 'collections' }

/** Computed: the collections that the row's identity, relationship or org unit is in. */
export const MEMBER_OF_COLLECTION = 'memberOfCollection'

/** Attributes of the row's identity that go by their own names, without prefix. Decisions, section 5. */
const UNPREFIXED = new Set(['directMemberOfDirectoryGroups', 'assignedLicenses'])

/** What every object has besides `ATTRIBUTES`. */
const OWN_KINDS: ReadonlyMap<string, AttributeKind> = new Map([
  ['id', 'guid'],
  ['externalId', 'string'],
])

const TYPE_OF_KIND = {
  string: 'String',
  boolean: 'Boolean',
  date: 'DateTime',
  guid: 'Guid',
  guids: 'List',
  reference: 'Guid',
  references: 'List',
} as const satisfies Record<AttributeKind, AttributeType>

/** The kind of any attribute a row can show, `id`, `externalId` and custom ones included; undefined when there is none. */
export function attributeKind(objectType: ObjectType, attribute: string): AttributeKind | undefined {
  return OWN_KINDS.get(attribute) ?? attributeDefinition(objectType, attribute)?.kind
}

/** The name under which conditions know an attribute: `identityDisplayName`, `relationshipCustom/shift`. Decisions, section 10. */
export function schemaName(objectType: ObjectType, attribute: string): string {
  if (objectType === 'identity' && UNPREFIXED.has(attribute)) return attribute
  return objectType + attribute.charAt(0).toUpperCase() + attribute.slice(1)
}

/** Which object of the row, and which attribute of it, a schema name reads; undefined when there is no such name. */
export function schemaSource(name: string): SchemaSource | undefined {
  if (name === MEMBER_OF_COLLECTION) return { kind: 'collections' }
  if (UNPREFIXED.has(name)) return { kind: 'attribute', objectType: 'identity', attribute: name }
  const objectType = OBJECT_TYPES.find((type) => name.startsWith(type))
  if (objectType === undefined) return undefined
  const rest = name.slice(objectType.length)
  const attribute = rest.charAt(0).toLowerCase() + rest.slice(1)
  // Going back and forth keeps out what merely looks like a name: `identityid`, `identityAssignedLicenses`.
  if (attributeKind(objectType, attribute) === undefined || schemaName(objectType, attribute) !== name) return undefined
  return { kind: 'attribute', objectType, attribute }
}

/** The schema of a tenant. Custom attributes are named as objects carry them: `custom/license_plate`. */
export function conditionSchema(customAttributes: Readonly<Record<ObjectType, readonly string[]>>): ConditionSchema {
  return addAttributes(new Map(), customAttributes)
}

/**
 * The schema for reading a stored condition again: it knows every custom attribute one can think of, because a condition
 * stays valid when the last object with the attribute has gone.
 */
export function storedConditionSchema(): ConditionSchema {
  return addAttributes(new OpenSchema(), { identity: [], orgUnit: [], relationship: [] })
}

function addAttributes(
  schema: Map<string, AttributeType>,
  customAttributes: Readonly<Record<ObjectType, readonly string[]>>,
): ConditionSchema {
  for (const objectType of OBJECT_TYPES) {
    const names = [...OWN_KINDS.keys(), ...Object.keys(ATTRIBUTES[objectType]), ...customAttributes[objectType]]
    for (const attribute of names) {
      const kind = attributeKind(objectType, attribute)
      if (kind !== undefined) schema.set(schemaName(objectType, attribute), TYPE_OF_KIND[kind])
    }
  }
  return schema.set(MEMBER_OF_COLLECTION, 'Guid')
}

class OpenSchema extends Map<string, AttributeType> {
  override get(name: string): AttributeType | undefined {
    return super.get(name) ?? (isCustom(name) ? 'String' : undefined)
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined
  }
}

function isCustom(name: string): boolean {
  const source = schemaSource(name)
  return source?.kind === 'attribute' && source.attribute.startsWith(CUSTOM_ATTRIBUTE_PREFIX)
}
