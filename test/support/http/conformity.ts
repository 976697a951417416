import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { routeTables } from '../../../functions/routes/all-routes.ts'
import { serviceDocument } from '../../../functions/routes/service-document.ts'
import { dispatcher } from '../../../shared/http/dispatch.ts'
import type { HttpResponse } from '../../../shared/http/envelope.ts'
import { routeMatcher } from '../../../shared/http/match-route.ts'
import type { Route, RouteGroup } from '../../../shared/http/route.ts'

type Response = {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: { readonly 'application/json': { readonly examples?: Readonly<Record<string, unknown>> } }
}
type Described = {
  readonly paths: Readonly<Record<string, Record<string, { responses: Readonly<Record<string, Response>> }>>>
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
}

/** The API document and its validators: made with the first response, because many test files receive none. */
type Api = { readonly described: Described; readonly ajv: Ajv2020 }
let api: Api | undefined

function apiOnce(): Api {
  if (api !== undefined) return api
  const described = serviceDocument() as Described
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema(described, 'api')
  api = { described, ajv }
  return api
}

const validators = new Map<string, ValidateFunction>()

const finders = routeTables().map(({ prefix, routes }) => ({ prefix, find: routeMatcher({ prefix, routes }) }))

/** Described headers that not every response has. */
const SOMETIMES: readonly string[] = ['idempotency-replayed']

/** The refusals before routing, by status. */
const BEFORE_ROUTES: Readonly<Record<number, string>> = { 404: 'RouteNotFound', 405: 'MethodNotAllowed' }

/** Throws unless the API document describes the response to the request. */
export function assertConforming(method: string, url: string, response: HttpResponse): void {
  const { pathname } = new URL(url, 'http://localhost')
  const fail = (reason: string): never => {
    throw new Error(`${method} ${pathname} returned ${response.status}: ${reason}\n${response.body?.slice(0, 2000)}`)
  }
  if (response.headers['x-request-id'] === undefined) fail('without x-request-id')
  if (response.headers['x-content-type-options'] !== 'nosniff') fail('without nosniff')
  if (response.headers['cache-control'] !== 'no-store') fail('without no-store')
  if (method === 'HEAD' || response.status === 304) {
    if (response.body !== undefined && response.body !== '') fail('with a body')
    return
  }
  const body = JSON.parse(textOf(response) ?? 'null')
  const [code] = body.errors.map((error: { code: string }) => error.code)
  const found = finders.flatMap(({ prefix, find }) => {
    const { outcome, ...rest } = find(method, pathname)
    return outcome === 'found' ? [{ prefix, ...(rest as { route: Route }) }] : []
  })[0]
  if (found === undefined) {
    if (BEFORE_ROUTES[response.status] !== code) fail('which is not the response to an unknown path or method')
    return void complain(fail, 'api#/components/schemas/Failure', body)
  }
  const { described } = apiOnce()
  const path = `/${found.prefix}${found.route.path === '/' ? '' : found.route.path}`
  const operation = ['', 'paths', path, method.toLowerCase(), 'responses', String(response.status)]
  const stated = described.paths[path]?.[method.toLowerCase()]?.responses[response.status]
  const name = stated?.$ref?.split('/').at(-1)
  const documented = name === undefined ? stated : described.components.responses[name]
  if (documented === undefined) {
    fail('which is not described')
    return
  }
  complain(fail, `api#${pointer(name === undefined ? operation : ['', 'components', 'responses', name])}`, body)
  for (const header of Object.keys(documented.headers ?? {})) {
    if (response.headers[header] === undefined && !SOMETIMES.includes(header)) fail(`without ${header}`)
  }
  if (response.headers.etag !== undefined && documented.headers?.etag === undefined)
    fail('with an etag that is not described')
  if (response.headers['idempotency-replayed'] !== undefined && !('idempotency-replayed' in (documented.headers ?? {})))
    fail('replayed, where nothing is created')
  const codes = Object.keys(documented.content?.['application/json'].examples ?? {})
  for (const error of body.errors) if (!codes.includes(error.code)) fail(`${error.code}, which is not described`)
}

function pointer(names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
}

function complain(fail: (reason: string) => never, place: string, body: unknown): void {
  const $ref = place.includes('schemas') ? place : `${place}/content/application~1json/schema`
  const validate = validators.get($ref) ?? apiOnce().ajv.compile({ $ref })
  validators.set($ref, validate)
  if (!validate(body)) fail(apiOnce().ajv.errorsText(validate.errors))
}

/** The body as text. A long body is encoded already. */
export function textOf({ body }: HttpResponse): string | undefined {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : body
}

/** A dispatcher that checks every response against the API document. */
export function conformingDispatcher(...[group, deps]: Parameters<typeof dispatcher>): ReturnType<typeof dispatcher> {
  const dispatch = dispatcher(group satisfies RouteGroup, deps)
  return async (request) => {
    const response = await dispatch(request)
    assertConforming(request.method, request.url, response)
    return response
  }
}
