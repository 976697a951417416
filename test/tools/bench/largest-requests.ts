import { randomUUID } from 'node:crypto'

type Schema = Readonly<Record<string, unknown>>
type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}
export type ApiDescription = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export type LargeRequest = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** Characters of a body: just below the limit of 1 MB. */
const BODY_CHARACTERS = 1_000_000
const ENTRIES_COUNT = 5_000
const INNER_ENTRIES_COUNT = 5
const LEAVES_COUNT = 500

/** 500 leaves with values that fill the 128 KB of a condition. */
const CONDITION = {
  groupOperator: 'OR',
  conditions: Array.from({ length: LEAVES_COUNT }, (_, index) => {
    const id = 'identityDisplayName'
    return { id, field: `ToUpper(${id})`, operator: 'NotContains', value: `${index} ${'x'.repeat(140)}` }
  }),
}

/** A request to each operation of the API, with as large an input as its description permits. */
export function largestRequests({ paths, components }: ApiDescription): LargeRequest[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const query = parameters
        .filter(
          (parameter) => parameter.in === 'query' && !['nextCursor', 'asOf', 'from', 'to'].includes(parameter.name),
        )
        .map(({ name, schema }) => `${name}=${encodeURIComponent(String(largest(schema, components.schemas)))}`)
      const filled = path.replaceAll(/\{\w+\}/g, () => randomUUID())
      const schema = requestBody?.content['application/json'].schema
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
        ...(schema === undefined ? {} : { body: fitting(schema, components.schemas) }),
      }
    }),
  )
}

/** The largest body, with shorter lists until it fits. */
function fitting(schema: Schema, schemas: ApiDescription['components']['schemas']): string {
  for (let entriesCount = ENTRIES_COUNT; ; entriesCount = Math.floor(entriesCount / 2)) {
    const body = JSON.stringify(largest(schema, schemas, entriesCount))
    if (body.length < BODY_CHARACTERS || entriesCount === 0) return body
  }
}

function largest(
  schema: Schema,
  schemas: ApiDescription['components']['schemas'],
  entriesCount = ENTRIES_COUNT,
): unknown {
  const { $ref, anyOf, oneOf, properties, items, type, maxItems, maxLength, maximum, enum: words, format } = schema
  const again = (inner: unknown) => largest(inner as Schema, schemas, entriesCount)
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? ''
    return name === 'Condition' ? CONDITION : again(schemas[name] ?? {})
  }
  const choices = (anyOf ?? oneOf) as readonly Schema[] | undefined
  if (choices !== undefined) return again(choices[0])
  if (Array.isArray(words)) return words[0]
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties as object).map(([name, inner]) => [name, again(inner)]))
  }
  if (type === 'array' && items !== undefined) {
    const length = Math.min(entriesCount, Number(maxItems ?? entriesCount))
    // Lists within the entries of a list are short.
    return Array.from({ length }, () => largest(items as Schema, schemas, Math.min(INNER_ENTRIES_COUNT, entriesCount)))
  }
  if (type === 'integer' || type === 'number') return maximum ?? 1
  if (type === 'boolean') return true
  if (format === 'uuid') return randomUUID()
  return 'x'.repeat(Math.min(Number(maxLength ?? 200), 2_000))
}
