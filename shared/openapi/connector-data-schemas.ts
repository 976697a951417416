import { EXTERNAL_ID_LIMIT_COUNT, ExternalId } from '../domain/connectors/connector-object.ts'
import { BATCH_OPERATIONS } from '../domain/connectors/object-input.ts'
import {
  ATTRIBUTES,
  type AttributeDefinition,
  type AttributeKind,
  OBJECT_TYPES,
  type ObjectType,
} from '../domain/core/core-object.ts'
import { GUID_PATTERN } from '../kernel/guid.ts'
import type { JsonObject } from '../kernel/json.ts'
import { schemaReference } from './schemas.ts'

const GUID: JsonObject = { type: 'string', format: 'uuid', pattern: GUID_PATTERN }
const EXTERNAL_ID = JSON.parse(JSON.stringify(ExternalId)) as JsonObject
const PREVIOUS_EXTERNAL_ID: JsonObject = {
  description: 'Only for `upsert`: the name that the object has had so far. The object is renamed.',
  anyOf: [EXTERNAL_ID, { type: 'null' }],
}
const REFERENCE: JsonObject = {
  type: 'object',
  description: 'Another object of the same connector. It can be created later.',
  required: ['externalId'],
  properties: { externalId: { type: 'string', minLength: 1, maxLength: EXTERNAL_ID_LIMIT_COUNT } },
}

const VALUES: Record<AttributeKind, JsonObject> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  date: { type: 'string', description: 'An ISO 8601 date, or date and time.' },
  guid: GUID,
  guids: { type: 'array', items: GUID },
  reference: REFERENCE,
  references: { type: 'array', items: REFERENCE },
}

const CUSTOM_VALUE: JsonObject = {
  type: ['string', 'integer', 'boolean', 'array'],
  items: { type: 'string' },
  description:
    'A value of the type that a connector gives to the attribute with `attributeTypes`, or a string that reads as it. ' +
    'Without a type, a string.',
}

const COMPONENTS: Record<ObjectType, string> = {
  identity: 'IdentityData',
  orgUnit: 'OrgUnitData',
  relationship: 'RelationshipData',
}

/** Components for the data of connector objects, by object type, and for the items of a batch. */
export function connectorDataComponents(): Record<string, JsonObject> {
  return {
    ConnectorData: {
      description: 'The attributes of an object. Its `objectType` determines which ones are allowed.',
      anyOf: Object.values(COMPONENTS).map(schemaReference),
    },
    ...Object.fromEntries(OBJECT_TYPES.map((objectType) => [COMPONENTS[objectType], dataOf(objectType)])),
    BatchItem: {
      description: 'A change of one object. `data` is required for `upsert`.',
      anyOf: OBJECT_TYPES.map((objectType) => ({
        type: 'object',
        required: ['op', 'objectType', 'externalId'],
        properties: {
          op: { type: 'string', enum: BATCH_OPERATIONS },
          objectType: { type: 'string', const: objectType },
          externalId: EXTERNAL_ID,
          previousExternalId: PREVIOUS_EXTERNAL_ID,
          data: schemaReference(COMPONENTS[objectType]),
        },
      })),
    },
  }
}

/** Null and blank strings count as absent. */
function dataOf(objectType: ObjectType): JsonObject {
  const attributes = Object.entries<AttributeDefinition>(ATTRIBUTES[objectType])
  return {
    type: 'object',
    properties: Object.fromEntries(attributes.map(([name, { kind }]) => [name, orNull(VALUES[kind])])),
    patternProperties: { '^custom/': orNull(CUSTOM_VALUE) },
    additionalProperties: false,
  }
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] }
}
