import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describedRoutes } from '../../functions/routes/all-routes.ts'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { REFUSALS } from '../../shared/domain/refusal.ts'
import { PROBES_TAG } from '../../shared/http/described-probes.ts'
import { documentResponder } from '../../shared/http/document-responder.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into member by member
const document = serviceDocument() as any

type Response = { $ref?: string; content?: Record<string, { examples?: Record<string, { $ref: string }> }> }
type Operation = {
  operationId: string
  summary: string
  tags: string[]
  security: { bearer: string[] }[]
  parameters: { name?: string; in?: string; required?: boolean }[]
  responses: Record<string, Response>
}

const described = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Those that routes answer. The probes are none: they know neither callers nor roles. */
const operations = described.filter(({ operation }) => !operation.tags.includes(PROBES_TAG.name))
const probes = described.filter(({ operation }) => operation.tags.includes(PROBES_TAG.name))

/** Every value below, with the member that holds it. */
function* members(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    yield [name, member]
    yield* members(member)
  }
}

const resolved = (reference: string) =>
  reference
    .slice(2)
    .split('/')
    .reduce((value, name) => value?.[name], document)

const refusedIn = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, response]) => {
    const { content } = response.$ref === undefined ? response : resolved(response.$ref)
    return Object.keys(content?.['application/json']?.examples ?? {}).map((code) => [Number(status), code] as const)
  })

describe('the description of the API', () => {
  it('is what infra/openapi.json holds: `npm run openapi` writes it', () => {
    const committed = JSON.parse(readFileSync(join(import.meta.dirname, '../../infra/openapi.json'), 'utf8'))
    assert.deepEqual(committed, JSON.parse(JSON.stringify(document)))
  })

  it('has the probes, open to anyone, each answer with an example of its schema', () => {
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

  it('has every route, each with an operation id of its own, a summary and a role', () => {
    const served = describedRoutes().flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => `${method} /${prefix}${path === '/' ? '' : path}`),
    )
    assert.deepEqual(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort(), served.sort())
    assert.ok(served.length > 70)
    assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
    for (const { operation } of operations) {
      assert.ok(operation.summary.length > 0 && operation.security.length > 0, operation.operationId)
    }
  })

  it('has nothing at the end of no reference, and no component that nothing refers to', () => {
    const references = new Set<string>()
    for (const [name, value] of members(document)) if (name === '$ref') references.add(String(value))
    for (const reference of references) {
      assert.ok(resolved(reference) !== undefined, reference)
    }
    for (const [kind, named] of Object.entries<object>(document.components)) {
      if (kind === 'securitySchemes') continue
      for (const name of Object.keys(named)) {
        const isBeforeRoutes = Object.hasOwn(document['x-refused-before-routes'], name)
        assert.ok(isBeforeRoutes || references.has(`#/components/${kind}/${name}`), `${kind} ${name}`)
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

  it('knows every refusal of the register, at its status, and no others', () => {
    const documented = new Set(Object.keys(document['x-refused-before-routes']))
    for (const { operation } of operations) {
      for (const [status, code] of refusedIn(operation)) {
        assert.equal(document.components.examples[code].value.statusCode, status, code)
        if (status !== 500) documented.add(code)
      }
    }
    assert.deepEqual([...documented].sort(), Object.keys(REFUSALS).sort())
  })

  it('has examples that are what its schemas say', () => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const isFailure = ajv.compile(document.components.schemas.Failure)
    for (const { value } of Object.values<{ value: unknown }>(document.components.examples)) {
      assert.ok(isFailure(value), JSON.stringify(isFailure.errors))
    }
  })

  it('has schemas that the meta-schema of JSON Schema takes, without members of our own', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true })
    addFormats.default(ajv)
    for (const [name, value] of members(document)) {
      assert.ok(!name.startsWith('x-') || ['x-request-id', 'x-refused-before-routes'].includes(name), name)
      if (name === 'schema') assert.ok(ajv.validateSchema(value as object), JSON.stringify(value))
    }
    for (const schema of Object.values<object>(document.components.schemas)) assert.ok(ajv.validateSchema(schema))
  })
})

describe('serving the description', () => {
  const respond = documentResponder(document, () => 'made-id')
  const ask = (method: string, headers: Record<string, string> = {}) =>
    respond({
      method,
      url: '/openapi.json',
      header: (name) => headers[name] ?? null,
      bytes: async () => new Uint8Array(),
    })

  it('needs no token, and knows who has it already', () => {
    const { status, headers, body } = ask('GET')
    assert.deepEqual([status, JSON.parse(body ?? '').openapi], [200, '3.1.0'])
    assert.equal(ask('GET', { 'if-none-match': headers.etag ?? '' }).status, 304)
    assert.deepEqual(ask('HEAD').headers, headers)
    assert.equal(ask('HEAD').body, undefined)
  })

  it('refuses other methods with an envelope', () => {
    const { status, headers, body } = ask('POST', { 'x-request-id': 'mine' })
    assert.deepEqual([status, headers.allow, headers['x-request-id']], [405, 'GET, HEAD', 'mine'])
    assert.equal(JSON.parse(body ?? '').errors[0].code, 'MethodNotAllowed')
  })
})
