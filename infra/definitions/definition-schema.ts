import { serviceDocument } from '../../functions/routes/service-document.ts'
import { LinkSettingsChange } from '../../shared/domain/group-links/link-settings.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { isObject } from './references.ts'

/** What a file defines. */
const FILE_KINDS = ['criteria', 'joinable', 'link', 'settings'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** The settings that files can change: a file with one of them defines settings. */
export const SETTINGS_MEMBERS: readonly string[] = Object.keys(LinkSettingsChange.properties)

/** The schema beside the files, which they name for editors. */
export const SCHEMA_FILE = 'definitions.schema.json'

const COMPONENTS = '#/components/schemas/'
const REFERENCE: JsonObject = { $ref: '#/$defs/CollectionReference' }

/**
 * The JSON Schema of the files, made from the schemas of the API: its bodies without members that files do not have,
 * closed, and with references to collections by name. `$defs` has the schema of each kind.
 */
export function definitionSchema(): JsonObject {
  const components = (serviceDocument() as { components: { schemas: JsonObject } }).components.schemas
  const component = (name: string): JsonObject => {
    const schema = components[name]
    if (!isObject(schema)) throw new Error(`The API description has no schema ${name}`)
    return schema
  }
  const conditions = new Set(reachable('Condition', component))
  const roots: Record<FileKind, JsonObject> = {
    criteria: component('NewCriteriaCollection'),
    joinable: component('NewJoinableCollection'),
    link: linkSchema(component('GroupLinkChange')),
    settings: component('LinkSettingsChange'),
  }
  const shared = new Set(Object.values(roots).flatMap((root) => namesIn(root)))
  const named = [...new Set([...shared].flatMap((name) => [...reachable(name, component)]))].sort()
  const definitions = named.map((name): [string, Json] => {
    const schema = WITH_REFERENCES.includes(name) ? withReferences(component(name)) : component(name)
    return [name, relocated(conditions.has(name) ? schema : closed(schema))]
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A collection, a group link or the settings of group links',
    ...selected(['link', 'group'], ['joinable', 'joinPolicy'], ['criteria', 'condition']),
    $defs: {
      ...Object.fromEntries(FILE_KINDS.map((kind) => [kind, relocated(closed(roots[kind]))])),
      CollectionReference: {
        type: 'object',
        description: 'A collection by its name.',
        required: ['collection'],
        properties: { collection: { type: 'string' } },
        additionalProperties: false,
      },
      ...Object.fromEntries(definitions),
    },
  }
}

/** The schemas whose GUIDs include ids of collections. */
const WITH_REFERENCES = ['MembershipCondition', 'JoinPolicyInput']

function linkSchema(change: JsonObject): JsonObject {
  const { state = {} } = isObject(change.properties) ? change.properties : {}
  return {
    type: 'object',
    required: ['collection', 'group'],
    properties: {
      collection: { type: 'string', description: 'The name of the collection.' },
      group: { type: 'string', description: 'The display name of the directory group, or its id.' },
      state: { ...(isObject(state) ? state : {}), description: '`Enabled` when left out.' },
    },
  }
}

/** Selects the schema by the member that only one kind has; settings have none of them. */
function selected(...kinds: readonly [FileKind, string][]): JsonObject {
  const [first, ...rest] = kinds
  if (first === undefined) return { $ref: '#/$defs/settings' }
  const [kind, member] = first
  return {
    if: { required: [member] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { $ref: `#/$defs/${kind}` },
    else: selected(...rest),
  }
}

function* reachable(
  name: string,
  component: (name: string) => JsonObject,
  seen = new Set<string>(),
): Generator<string> {
  if (seen.has(name)) return
  seen.add(name)
  yield name
  for (const next of namesIn(component(name))) yield* reachable(next, component, seen)
}

/** The components that a schema refers to. */
function namesIn(schema: Json): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item: Json) => namesIn(item))
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value.slice(COMPONENTS.length)] : namesIn(value),
  )
}

/** Refuses unknown members, which the API ignores: in a file they are mistakes. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => closed(item))
  if (!isObject(schema)) return schema
  const [only, none, ...others] = Array.isArray(schema.anyOf) ? (schema.anyOf as Json[]) : []
  // The API takes null as left out. A file leaves out.
  if (only !== undefined && isObject(none) && none.type === 'null' && others.length === 0) return closed(only)
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isOpen =
    schema.type === 'object' && schema.properties !== undefined && schema.additionalProperties === undefined
  return isOpen ? { ...members, additionalProperties: false } : members
}

function withReferences(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => withReferences(item))
  if (!isObject(schema)) return schema
  if (schema.format === 'uuid' || schema.$ref === `${COMPONENTS}Guid`) return { anyOf: [schema, REFERENCE] }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value)]))
}

function relocated(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => relocated(item))
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, value.replace(COMPONENTS, '#/$defs/')]
        : [key, relocated(value)],
    ),
  )
}
