import fc from 'fast-check'
import type { Route } from '../../../shared/http/route.ts'
import { pathParameters } from '../../../shared/http/route.ts'
import type { WireRequest } from './whole-service.ts'

type Schema = {
  readonly [keyword: string]: unknown
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
}

const HOSTILE_TEXTS = [
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\ud800',
  '\u202e',
  '%00',
  '../../../',
  "' OR 1=1 --",
  '{{7*7}}',
  '*',
  '"',
  '🧑‍🤝‍🧑',
  'x'.repeat(300),
  'é'.repeat(2049),
  'Today()',
  'AddDays(Today(),-99999999)',
  'Substring(identityDisplayName,0,1)',
  '9'.repeat(400),
  '0001-01-01',
  '+275760-09-14',
]

/** Percent signs that stand for no character, and separators that must not become any. */
const HOSTILE_SEGMENTS = ['%', '%zz', '%ff%fe', '%c0%af', '%2F', '%2e%2e', '%5c', ';a=b', '@', ':', '%00', 'multiple']

const CONTENT_TYPES = ['text/plain', 'application/json; charset=utf-16', 'application/jsonx', 'multipart/form-data', '']

const hostileText = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary', maxLength: 40 }))
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1e308, -0, 2 ** 53, 1.5, '', [], {}, [[]], [null]),
  hostileText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
)

const CONDITION_IDS = [
  'identityDisplayName',
  'identityId',
  'orgUnitDeputies',
  'memberOfCollection',
  'relationshipEndDate',
]
const OPERATORS = ['Equals', 'NotEquals', 'Contains', 'ContainsAny', 'In', 'IsNull', 'GreaterThan', 'StartsWith']

/** Makes requests for routes: valid by their schemas, nearly so, or hostile. */
export function requestsFor(ids: readonly string[]) {
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ids) },
    fc.uuid().map((made) => made.toUpperCase()),
  )
  const condition = fc.letrec<{ node: object; group: object; leaf: object }>((tie) => ({
    node: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('group')),
    group: fc.record({
      groupOperator: fc.constantFrom('AND', 'or', 'NOT', 'XOR'),
      conditions: fc.array(tie('node'), { maxLength: 3 }),
    }),
    leaf: fc
      .record({
        id: fc.constantFrom(...CONDITION_IDS),
        operator: fc.constantFrom(...OPERATORS),
        value: fc.oneof(id, hostileValue),
      })
      .chain((leaf) => fc.constantFrom({ ...leaf, field: leaf.id }, { ...leaf, field: `ToUpper(${leaf.id})` })),
  })).group

  const valid = (schema: Schema): fc.Arbitrary<unknown> => {
    if (schema['x-guid'] === true) return id
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valid))
    if (schema.if !== undefined) return fc.oneof(valid(schema.then as Schema), valid(schema.else as Schema))
    switch (schema.type) {
      case 'string':
        return fc.oneof(fc.constantFrom('identity', 'Identity', 'Ward', 'Manager'), hostileText)
      case 'integer':
        return fc.integer({ min: Number(schema.minimum ?? -2), max: Number(schema.maximum ?? 50) })
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'array':
        return fc.array(valid(schema.items ?? {}), { maxLength: 3 })
      case 'object':
        return schema.properties === undefined ? fc.oneof(condition, hostileValue) : validObject(schema)
      default:
        return hostileValue
    }
  }
  const validObject = ({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> =>
    fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valid(schema)])), {
      requiredKeys: [...required],
    })

  /** Only what is required: the fewer members, the more bodies are accepted. */
  const smallest = (schema: Schema): fc.Arbitrary<unknown> => {
    if (schema.type !== 'object' || schema.properties === undefined) return valid(schema)
    const required = (schema.required ?? []).map((name) => [name, smallest(schema.properties?.[name] ?? {})] as const)
    return fc.record(Object.fromEntries(required))
  }

  const nearlyValid = (schema: Schema): fc.Arbitrary<unknown> =>
    fc
      .tuple(valid(schema), fc.constantFrom(...Object.keys(schema.properties ?? { ids: 0 })), hostileValue)
      .map(([body, name, value]) => (typeof body === 'object' && body !== null ? { ...body, [name]: value } : value))

  const bodyText = (schema: Schema | undefined): fc.Arbitrary<string> => {
    if (schema === undefined) return fc.constant('')
    return fc.oneof(
      { weight: 3, arbitrary: valid(schema).map((body) => JSON.stringify(body)) },
      { weight: 2, arbitrary: smallest(schema).map((body) => JSON.stringify(body)) },
      { weight: 3, arbitrary: nearlyValid(schema).map((body) => JSON.stringify(body)) },
      { weight: 1, arbitrary: hostileValue.map((body) => JSON.stringify(body)) },
      {
        weight: 1,
        arbitrary: fc.oneof(hostileText, fc.constant('['.repeat(5000)), fc.constant('{"__proto__":{"ids":[]}}')),
      },
    )
  }

  const pathOf = (prefix: string, { path, parameters = {} }: Route): fc.Arbitrary<string> => {
    const segments = pathParameters(path).map((name) => {
      const schema = parameters[name]
      const usual = schema === undefined ? id : valid(schema as Schema)
      return fc
        .oneof(
          { weight: 18, arbitrary: usual.map((value) => segment(String(value))) },
          { weight: 2, arbitrary: hostileText.map(segment) },
          fc.constantFrom(...HOSTILE_SEGMENTS),
        )
        .map((value) => [name, value] as const)
    })
    return fc.tuple(...segments).map((values) => {
      const named = new Map(values)
      return `/${prefix}${path.replaceAll(/\{(\w+)\}/g, (_all, name) => named.get(name) ?? 'x')}`
    })
  }

  const queryOf = ({ query }: Route): fc.Arbitrary<string> => {
    const usual = Object.entries((query?.properties ?? {}) as Record<string, Schema>).map(([name, schema]) =>
      fc.option(fc.oneof({ weight: 3, arbitrary: valid(schema) }, hostileText)).map((value) => [name, value] as const),
    )
    return fc.tuple(...usual).map((given) => {
      const search = new URLSearchParams()
      for (const [name, value] of given) {
        for (const each of Array.isArray(value) ? value : [value]) if (each !== null) search.append(name, String(each))
      }
      return search.size === 0 ? '' : `?${search}`
    })
  }

  return (prefix: string, route: Route): fc.Arbitrary<WireRequest> =>
    fc.record({
      method: fc.constant(route.method),
      path: fc.tuple(pathOf(prefix, route), queryOf(route)).map((parts) => parts.join('')),
      headers: fc.record(
        {
          'content-type': fc.oneof(
            { weight: 20, arbitrary: fc.constant('application/json') },
            fc.constantFrom(...CONTENT_TYPES),
          ),
          'if-match': hostileText,
          'if-none-match': hostileText,
          'x-request-id': hostileText,
          'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('one', 'two'), hostileText),
        },
        { requiredKeys: [] },
      ),
      body: bodyText(route.body as Schema | undefined),
    })
}

/** A lone surrogate has no percent-encoding. */
function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
