import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { CORE_DATA_EXAMPLES } from '../../functions/routes/examples/core-data-examples.ts'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { customTypesOf } from '../../shared/domain/connectors/attribute-types.ts'
import { parseBatchItems } from '../../shared/domain/connectors/object-input.ts'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { bodyFaults } from '../../shared/http/validation.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'

type Content = { readonly schema: object; readonly example: unknown }
type Operation = {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

const document = serviceDocument() as Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema(document, 'api')

/** A place in the document, as a reference to it. */
const offsetOf = (...names: readonly string[]) =>
  `api#/${names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`

const examplesOf = (path: string, method: string, { operationId, requestBody, responses }: Operation) => {
  const body = requestBody?.content['application/json']
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  assert.ok(success !== undefined, operationId)
  const [status, { content }] = success
  const answer = content?.['application/json']
  const at = ['paths', path, method]
  const schema = ['content', 'application/json', 'schema']
  return [
    ...(requestBody === undefined
      ? []
      : [{ what: 'body', example: body?.example, place: offsetOf(...at, 'requestBody', ...schema) }]),
    { what: 'answer', example: answer?.example, place: offsetOf(...at, 'responses', status, ...schema) },
  ]
}

const operations = routeTables().flatMap(({ prefix, routes }) =>
  routes.map((route) => {
    const path = `/${prefix}${route.path === '/' ? '' : route.path}`
    const method = route.method.toLowerCase()
    const described = document.paths[path]?.[method]
    assert.ok(described !== undefined, route.operationId)
    return { route, examples: examplesOf(path, method, described) }
  }),
)

describe('the examples of the description', () => {
  it('exist for every request body and response, and conform to their schemas', () => {
    let count = 0
    for (const { route, examples } of operations) {
      for (const { what, example, place } of examples) {
        assert.notEqual(example, undefined, `${route.operationId} has no example of its ${what}`)
        const validate = ajv.compile({ $ref: place })
        assert.ok(validate(example), `${route.operationId}, ${what}: ${ajv.errorsText(validate.errors)}`)
        count += 1
      }
    }
    assert.ok(count > 90, `${count} examples`)
  })

  it('of request bodies are accepted by the service, conditions and batches included', () => {
    for (const { route, examples } of operations) {
      const body = examples.find(({ what }) => what === 'body')?.example
      if (route.body === undefined) continue
      assert.deepEqual(bodyFaults(route.body, structuredClone(body)), [], route.operationId)
      for (const condition of conditionsIn(body)) assert.ok(checkCondition(condition, storedConditionSchema()).ok)
      if (route.operationId === 'writeConnectorBatch') {
        const { items } = body as { items: unknown[] }
        assert.ok(
          runToCompletion(parseBatchItems(items, customTypesOf([CORE_DATA_EXAMPLES.NewConnector]))).every(
            (item) => 'write' in item,
          ),
        )
      }
    }
  })

  it('have schemas of batch items with every member that an item can have', () => {
    const { anyOf } = document.components.schemas.BatchItem as { anyOf: { properties: object }[] }
    const members = ['op', 'objectType', 'externalId', 'previousExternalId', 'data']
    assert.deepEqual(
      anyOf.map(({ properties }) => Object.keys(properties)),
      [members, members, members],
    )
    const isItem = ajv.compile({ $ref: offsetOf('components', 'schemas', 'BatchItem') })
    const item = { op: 'upsert', objectType: 'identity', externalId: 'b', data: {} }
    for (const [previousExternalId, expected] of [
      ['a', true],
      [null, true],
      ['', false],
      [7, false],
    ]) {
      assert.equal(isItem({ ...item, previousExternalId }), expected, String(previousExternalId))
    }
  })

  it('of refusals are the actual responses', () => {
    const isFailure = ajv.compile({ $ref: offsetOf('components', 'schemas', 'Failure') })
    for (const { value } of Object.values(document.components.examples)) {
      assert.ok(isFailure(value), ajv.errorsText(isFailure.errors))
    }
  })
})

function conditionsIn(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) => (name === 'condition' ? [value] : conditionsIn(value)))
}
