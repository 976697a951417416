import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { REFUSALS_BEFORE_ROUTING } from '../../shared/http/route.ts'
import { USER_ROLES } from '../../shared/kernel/caller.ts'
import { REFUSALS } from '../../shared/kernel/refusal-register.ts'
import { PROBES_TAG } from '../../shared/openapi/public-operations.ts'

type Content = { example?: unknown; examples?: Record<string, { $ref: string }> }
type Response = { $ref?: string; headers?: object; content?: Record<string, Content> }
type Operation = {
  operationId: string
  summary: string
  tags: string[]
  security: { bearer: string[] }[]
  parameters: { $ref?: string; name?: string; in?: string; required?: boolean }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, Response>
}
type ApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components: { examples: Record<string, { value: { statusCode: number } }>; schemas: Record<string, object> }
  'x-refused-before-routes': object
}

const document = serviceDocument() as ApiDocument

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Files and probes. They are not routes. */
const FILE_PATHS = ['/docs', '/docs/conditions', '/openapi.json']
const probes = described.filter(({ operation }) => operation.tags.includes(PROBES_TAG.name))
const operations = described.filter((each) => !probes.includes(each))
const roleOperations = operations.filter(({ path }) => !FILE_PATHS.includes(path))

/** Every value below, with the member that holds it. */
function* members(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    yield [name, member]
    yield* members(member)
  }
}

const resolved = (reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document)

const responseOf = (response: Response): Response =>
  response.$ref === undefined ? response : (resolved(response.$ref) as Response)

function operationAt(path: string, method: string): Operation {
  const operation = document.paths[path]?.[method]
  assert.ok(operation, `${method} ${path}`)
  return operation
}

const refusedIn = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, response]) => {
    const { content } = responseOf(response)
    return Object.keys(content?.['application/json']?.examples ?? {}).map((code) => [Number(status), code] as const)
  })

describe('the API document', () => {
  it('contains the probes without security, each response with a valid example', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false })
    addFormats.default(ajv)
    ajv.addSchema(document, 'api')
    assert.deepEqual(
      probes.map(({ path, method, operation }) => [method, path, operation.security]),
      [
        ['get', '/health', []],
        ['get', '/ready', []],
      ],
    )
    for (const { path, operation } of probes) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const place = `#/paths/${path.replace('/', '~1')}/get/responses/${status}/content/application~1json/schema`
        const { example } = (content?.['application/json'] ?? {}) as { example?: unknown }
        assert.ok(ajv.validate({ $ref: `api${place}` }, example), `${path} ${status} ${ajv.errorsText()}`)
      }
    }
  })

  it('contains every route with a unique operation id, a summary and a role', () => {
    const served = routeTables().flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => `${method} /${prefix}${path === '/' ? '' : path}`),
    )
    const files = FILE_PATHS.map((path) => `GET ${path}`)
    assert.deepEqual(
      operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort(),
      [...served, ...files].sort(),
    )
    assert.ok(served.length > 70)
    assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
    for (const { operation } of operations) {
      assert.ok(operation.summary.length > 0, operation.operationId)
    }
    for (const { operation } of roleOperations) assert.ok(operation.security.length > 0, operation.operationId)
  })

  it('is usable for tools: a description for each operation, items for each list, patterns without Unicode classes', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    for (const { operationId, description } of operations as { operationId: string; description?: string }[]) {
      assert.ok(description, operationId)
    }
    const problems: string[] = []
    const look = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null || at.includes('/example')) return
      const { type, pattern } = value as { type?: unknown; pattern?: unknown }
      if ([type].flat().includes('array') && !('items' in value)) problems.push(`${at} has no items`)
      if (typeof pattern === 'string' && pattern.includes('\\p{')) problems.push(`${at} has ${pattern}`)
      for (const [name, member] of Object.entries(value)) look(member, `${at}/${name}`)
    }
    look(document, '')
    assert.deepEqual(problems, [])
  })

  it('has no dangling reference and no unused component', () => {
    const references = new Set<string>()
    for (const [name, value] of members(document)) if (name === '$ref') references.add(String(value))
    for (const reference of references) {
      assert.ok(resolved(reference) !== undefined, reference)
    }
    for (const [kind, named] of Object.entries<object>(document.components)) {
      if (kind === 'securitySchemes') continue
      for (const name of Object.keys(named)) {
        assert.ok(references.has(`#/components/${kind}/${name}`), `${kind} ${name}`)
      }
    }
  })

  it('declares the parameters of each path, and no others', () => {
    for (const { path, operation } of operations) {
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
      assert.deepEqual(
        declared.map(({ name }) => name),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      )
      assert.ok(declared.every(({ required }) => required))
    }
  })

  it('declares the headers of requests and responses, and no security for files', () => {
    for (const { path, operation } of operations) {
      const references = operation.parameters.map(({ $ref }) => $ref)
      assert.ok(references.includes('#/components/parameters/RequestId'), path)
      for (const response of Object.values(operation.responses)) {
        assert.ok('x-request-id' in (responseOf(response).headers ?? {}), path)
      }
    }
    for (const path of FILE_PATHS) assert.deepEqual(operationAt(path, 'get').security, [])
    const put = operationAt('/collections-criteria/beta/{id}', 'put')
    const get = operationAt('/collections-criteria/beta/{id}', 'get')
    assert.ok(put.parameters.some(({ $ref }) => $ref === '#/components/parameters/IfMatch'))
    assert.ok(get.parameters.some(({ $ref }) => $ref === '#/components/parameters/IfNoneMatch'))
    for (const status of ['200', '304']) assert.ok('etag' in (get.responses[status]?.headers ?? {}), status)
  })

  it('has the refusal of a decision for an older version of a request, which the body names instead of a header', () => {
    const { responses, parameters } = operationAt('/collections-joinable/beta/membership-requests/decide', 'post')
    assert.equal(responses['412']?.$ref, '#/components/responses/Stale')
    assert.ok(!parameters.some(({ $ref }) => $ref === '#/components/parameters/IfMatch'))
  })

  it('names the roles of each operation in its description too', () => {
    for (const { operation } of roleOperations) {
      const { description } = operation as unknown as { description: string }
      const roles = operation.security.flatMap(({ bearer }) => bearer)
      for (const role of roles) assert.ok(description.includes(`\`${role}\``), description)
      if (roles.length === 0) assert.match(description, /no role/)
    }
    assert.deepEqual(
      operationAt('/collections-joinable/beta/member-of', 'get').security,
      USER_ROLES.map((role) => ({ bearer: [role] })),
    )
    assert.deepEqual(operationAt('/collections/beta/me', 'get').security, [{ bearer: [] }])
  })

  /** Returned as 409 where the request is valid by itself. */
  const CONFLICTS = new Set(['CircularReference'])

  it('contains every refusal of the register at its status, and no others', () => {
    const documented = new Set<string>(REFUSALS_BEFORE_ROUTING)
    assert.deepEqual(Object.keys(document['x-refused-before-routes']), REFUSALS_BEFORE_ROUTING)
    for (const { operation } of operations) {
      for (const [status, code] of refusedIn(operation)) {
        const isConflict = status === 409 && CONFLICTS.has(code)
        assert.equal(document.components.examples[code]?.value.statusCode, isConflict ? 400 : status, code)
        if (status !== 500) documented.add(code)
      }
    }
    assert.deepEqual([...documented].sort(), Object.keys(REFUSALS).sort())
  })

  it('has schemas that conform to the meta-schema, without our own keywords', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true })
    addFormats.default(ajv)
    for (const [name, value] of members(document)) {
      assert.ok(!name.startsWith('x-') || ['x-request-id', 'x-refused-before-routes'].includes(name), name)
      if (name === 'schema') assert.ok(ajv.validateSchema(value as object), JSON.stringify(value))
    }
    for (const schema of Object.values(document.components.schemas)) assert.ok(ajv.validateSchema(schema))
  })
})
