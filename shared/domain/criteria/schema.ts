import {
  attributeKind,
  attributeNamed,
  attributeNames,
  type RowAttribute,
  schemaName,
} from '../core/attribute-names.ts'
import {
  type AttributeKind,
  attributeDefinition,
  CUSTOM_ATTRIBUTE_PREFIX,
  OBJECT_TYPES,
  type ObjectType,
} from '../core/core-object.ts'

import { COMPUTED_ATTRIBUTES, type ComputedName, computedAttribute, isComputed } from './computed-attributes.ts'

/** The type by which a condition compares a field. */
export type AttributeType = 'String' | 'Integer' | 'Boolean' | 'DateTime' | 'Guid' | 'List' | 'ExternalList' | 'Array'

/** The names that a condition may use, with their types. */
export type ConditionSchema = ReadonlyMap<string, AttributeType>

/** The source of the value behind a schema name: an object of the row, or its membership of other collections. */
export type SchemaSource =
  | (RowAttribute & { readonly kind: 'attribute' })
  | { readonly kind: 'computed'; readonly objectType: ObjectType; readonly name: ComputedName }
  | { readonly kind: 'collections' }

/** Computed: the collections that the row's identity, relationship or org unit belongs to. */
export const MEMBER_OF_COLLECTION = 'memberOfCollection'
/** The ids of the groups that directly contain the identity's account. */
export const DIRECTORY_GROUPS = 'directMemberOfDirectoryGroups'

const TYPE_OF_KIND = {
  string: 'String',
  boolean: 'Boolean',
  date: 'DateTime',
  guid: 'Guid',
  guids: 'List',
  reference: 'Guid',
  references: 'List',
} as const satisfies Record<AttributeKind, AttributeType>

/** The source of the values behind a schema name; undefined for an unknown name. */
export function schemaSource(name: string): SchemaSource | undefined {
  if (name === MEMBER_OF_COLLECTION) return { kind: 'collections' }
  if (isComputed(name)) return { kind: 'computed', objectType: COMPUTED_ATTRIBUTES[name].of, name }
  const source = attributeNamed(name)
  return source && { kind: 'attribute', ...source }
}

/** The type of the objects whose ids are the values behind a schema name; undefined for other values. */
export function referredObjectType(name: string): ObjectType | undefined {
  const computed = computedAttribute(name)
  if (computed !== undefined) return computed.to
  const source = attributeNamed(name)
  if (source === undefined) return undefined
  return source.attribute === 'id' ? source.objectType : attributeDefinition(source.objectType, source.attribute)?.to
}

/** The schema of a tenant. Custom attributes have the names that objects give them: `custom/license_plate`. */
export function conditionSchema(customAttributes: Readonly<Record<ObjectType, readonly string[]>>): ConditionSchema {
  return addAttributes(new Map(), customAttributes)
}

/** Schema names that only callers who may read all core objects can use in a condition. */
export const SENSITIVE_NAMES: ReadonlySet<string> = new Set(
  ['nin', 'mobile', 'privateMobile', 'privateEmail'].map((attribute) => schemaName('identity', attribute)),
)

/** Whether only callers who may read all core objects can see the values behind a schema name. */
export function isSensitive(name: string): boolean {
  return SENSITIVE_NAMES.has(name)
}

/** The schema without sensitive attributes. A condition on them would disclose their values member by member. */
export function withoutSensitive(schema: ConditionSchema): ConditionSchema {
  return new Map([...schema].filter(([name]) => !isSensitive(name)))
}

/**
 * The schema for reading a stored condition. It accepts every custom attribute: a condition stays valid after the last
 * object with the attribute is deleted.
 */
export function storedConditionSchema(): ConditionSchema {
  return addAttributes(new OpenSchema(), { identity: [], orgUnit: [], relationship: [] })
}

function addAttributes(
  schema: Map<string, AttributeType>,
  customAttributes: Readonly<Record<ObjectType, readonly string[]>>,
): ConditionSchema {
  for (const objectType of OBJECT_TYPES) {
    for (const attribute of [...attributeNames(objectType), ...customAttributes[objectType]]) {
      const kind = attributeKind(objectType, attribute)
      if (kind !== undefined) schema.set(schemaName(objectType, attribute), TYPE_OF_KIND[kind])
    }
  }
  for (const [name, { type }] of Object.entries(COMPUTED_ATTRIBUTES)) schema.set(name, type)
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
