import { type TSchema, Type } from 'typebox'
import { Guid } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import type { CoreObject, ObjectType } from './core-object.ts'
import { ATTRIBUTES, type AttributeDefinition, type AttributeKind } from './core-object.ts'
import { asTyped, type CustomTypes } from './custom-types.ts'

const ReferenceDto = Type.Object({ objectId: Guid }, { additionalProperties: false })

const VALUES: Record<AttributeKind, TSchema> = {
  string: Type.String(),
  boolean: Type.Boolean(),
  date: Type.String(),
  guid: Guid,
  guids: Type.Array(Guid),
  reference: ReferenceDto,
  references: Type.Array(ReferenceDto),
}

/** A core object as the API returns it: attributes at top level, absent when unknown. */
export type CoreObjectDto = Readonly<Record<string, unknown>> & { readonly id: string; readonly externalId: string }

const CUSTOM_VALUE = Type.Union([Type.String(), Type.Integer(), Type.Boolean(), Type.Array(Type.String())], {
  description: 'A value of the type that a connector gives to the attribute, by default a string.',
})

/** Returns the schema of a core object as the API returns it. */
export function coreObjectDtoSchema(objectType: ObjectType): TSchema {
  const attributes = Object.entries<AttributeDefinition>(ATTRIBUTES[objectType]).map(
    ([name, { kind }]) => [name, Type.Optional(VALUES[kind])] as const,
  )
  return Type.Object(
    { id: Guid, externalId: Type.String(), ...Object.fromEntries(attributes), lastUpdated: Type.Optional(Timestamp) },
    { patternProperties: { '^custom/': CUSTOM_VALUE }, additionalProperties: false },
  )
}

/**
 * Returns a core object as the API returns it. No attribute is named `id`, `externalId` or `lastUpdated`.
 * @param types Of the tenant's custom attributes.
 */
export function toCoreObjectDto(
  { id, objectType, externalId, attributes, lastUpdatedS }: CoreObject,
  types: CustomTypes,
): CoreObjectDto {
  return { id, externalId, ...asTyped(objectType, attributes, types), lastUpdated: toSecondsTimestamp(lastUpdatedS) }
}
