import {
  attributeKind,
  attributeNamed,
  attributeNames,
  type RowAttribute,
  schemaName,
} from '../core/attribute-names.ts'
import { type AttributeKind, attributeDefinition, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { type CustomTypes, isCustomAttribute, NO_CUSTOM_TYPES } from '../core/custom-types.ts'

import { COMPUTED_ATTRIBUTES, type ComputedName, computedAttribute, isComputed } from './computed-attributes.ts'

/** The type by which a condition compares a field. */
export type AttributeType =
  | 'String'
  | 'Integer'
  | 'Boolean'
  | 'DateTime'
  | 'Guid'
  | 'List'
  | 'ExternalList'
  | 'Array'
  | 'StringList'

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

/**
 * The schema of a tenant. Custom attributes have the names that objects give them: `custom/license_plate`.
 * @param types Of custom attributes.
 */
export function conditionSchema(
  customAttributes: Readonly<Record<ObjectType, readonly string[]>>,
  types: CustomTypes = NO_CUSTOM_TYPES,
): ConditionSchema {
  return addAttributes(new Map(), customAttributes, types)
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
export function storedConditionSchema(types: CustomTypes = NO_CUSTOM_TYPES): ConditionSchema {
  return addAttributes(new OpenSchema(types), { identity: [], orgUnit: [], relationship: [] }, types)
}

function addAttributes(
  schema: Map<string, AttributeType>,
  customAttributes: Readonly<Record<ObjectType, readonly string[]>>,
  types: CustomTypes,
): ConditionSchema {
  for (const objectType of OBJECT_TYPES) {
    for (const attribute of [...attributeNames(objectType), ...customAttributes[objectType]]) {
      const kind = attributeKind(objectType, attribute)
      const name = schemaName(objectType, attribute)
      if (kind !== undefined) schema.set(name, types.get(name) ?? TYPE_OF_KIND[kind])
    }
  }
  for (const [name, { type }] of Object.entries(COMPUTED_ATTRIBUTES)) schema.set(name, type)
  return schema.set(MEMBER_OF_COLLECTION, 'Guid')
}

class OpenSchema extends Map<string, AttributeType> {
  readonly #types: CustomTypes

  constructor(types: CustomTypes) {
    super()
    this.#types = types
  }

  override get(name: string): AttributeType | undefined {
    return super.get(name) ?? (isCustom(name) ? (this.#types.get(name) ?? 'String') : undefined)
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined
  }
}

function isCustom(name: string): boolean {
  const source = schemaSource(name)
  return source?.kind === 'attribute' && isCustomAttribute(source.attribute)
}
