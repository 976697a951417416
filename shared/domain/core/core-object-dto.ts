import { type TSchema, Type } from 'typebox'
import { Guid } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import type { CoreObject, ObjectType } from './core-object.ts'
import { ATTRIBUTES, type AttributeDefinition, type AttributeKind } from './core-object.ts'

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

/** Returns the schema of a core object as the API returns it. Custom attributes are strings. */
export function coreObjectDtoSchema(objectType: ObjectType): TSchema {
  const attributes = Object.entries<AttributeDefinition>(ATTRIBUTES[objectType]).map(
    ([name, { kind }]) => [name, Type.Optional(VALUES[kind])] as const,
  )
  return Type.Object(
    { id: Guid, externalId: Type.String(), ...Object.fromEntries(attributes), lastUpdated: Type.Optional(Timestamp) },
    { patternProperties: { '^custom/': Type.String() }, additionalProperties: false },
  )
}

/** Returns a core object as the API returns it. No attribute is named `id`, `externalId` or `lastUpdated`. */
export function toCoreObjectDto({ id, externalId, attributes, lastUpdatedS }: CoreObject): CoreObjectDto {
  return { id, externalId, ...attributes, lastUpdated: toSecondsTimestamp(lastUpdatedS) }
}
