import fc from 'fast-check'
import type { JsonObject } from '../../shared/openapi/schemas.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly items?: Schema
  readonly minItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Levels of components within each other, after which lists have nothing but their last form. */
const DEPTH_LIMIT = 3
/** Entries of a list beyond the fewest that it has to have. */
const EXTRA_ITEMS = 3

function ofType(type: string, { minimum, maximum }: Schema): fc.Arbitrary<unknown> {
  const bounds = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  }
  switch (type) {
    case 'string':
      return fc.string({ maxLength: 8 })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true, ...bounds })
    case 'integer':
      return fc.integer(bounds)
    case 'boolean':
      return fc.boolean()
    default:
      return fc.constant(null)
  }
}

/** Values of a component, made by its schema alone: `not`, formats and lengths are left aside. */
export function schemaArbitrary(components: Readonly<Record<string, JsonObject>>, name: string): fc.Arbitrary<unknown> {
  const ofComponent = (component: string, depth: number): fc.Arbitrary<unknown> =>
    ofSchema(components[component] as Schema, depth)

  const ofSchema = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
    if (schema.$ref !== undefined) return ofComponent(schema.$ref.split('/').at(-1) ?? '', depth + 1)
    if ('const' in schema) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern), { size: 'small' })
    if (schema.properties !== undefined) return ofObject(schema, depth)
    if (schema.anyOf !== undefined) return ofAny(schema.anyOf, depth)
    if (schema.type === 'array') {
      const minLength = schema.minItems ?? 0
      return fc.array(ofSchema(schema.items ?? {}, depth), { minLength, maxLength: minLength + EXTRA_ITEMS })
    }
    const types = [schema.type ?? []].flat()
    return types.length === 0 ? fc.jsonValue({ maxDepth: 1 }) : fc.oneof(...types.map((type) => ofType(type, schema)))
  }

  const ofAny = (forms: readonly Schema[], depth: number): fc.Arbitrary<unknown> =>
    fc.oneof(...(depth > DEPTH_LIMIT ? forms.slice(-1) : forms).map((form) => ofSchema(form, depth)))

  /** Of an object that has forms besides its own members, one form is taken. */
  const ofObject = ({ properties = {}, required = [], anyOf }: Schema, depth: number): fc.Arbitrary<unknown> => {
    const own = fc.record(
      Object.fromEntries(Object.entries(properties).map(([member, schema]) => [member, ofSchema(schema, depth)])),
      { requiredKeys: required.filter((member) => member in properties) },
    )
    if (anyOf === undefined) return own
    return fc.tuple(own, ofAny(anyOf, 0)).map(([members, form]) => ({ ...members, ...(form as object) }))
  }

  return ofComponent(name, 0)
}
