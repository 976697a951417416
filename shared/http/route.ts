import type { Static, TObject, TSchema } from 'typebox'
import type { Creation } from '../domain/idempotency/run-once.ts'
import { type Caller, isUserRole, type Role } from '../kernel/caller.ts'
import type { RefusalCode } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import type { RouteResult } from './envelope.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request after it has been authenticated, authorised and validated. */
export type RouteInput<Query = unknown, Body = unknown> = {
  readonly caller: Caller
  /** The caller's core identity. Only where the route asks for it, and there for all but those it makes exempt. */
  readonly identityId: string | undefined
  /** Path parameters. Those that are GUIDs are in lower case. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The version that `If-Match` names; undefined without one, or for `*`. */
  readonly ifMatch: string | undefined
  /** Ids for what the route makes, which are the same when the caller tries again. */
  readonly creation: Creation
}

/** One operation of the API as data: matching, authorisation, validation, document and generated tests read it. */
export type Route = {
  readonly operationId: string
  readonly summary: string
  /** What a caller has to know of it beyond the summary. Markdown. */
  readonly description?: string
  readonly deprecated?: true
  readonly method: Method
  /** Below the group's prefix: `/group-links/{id}`. A `{name}` is a GUID unless `parameters` says otherwise. */
  readonly path: string
  /** Whoever has one of these roles may call. */
  readonly roles: readonly Role[]
  /** The caller acts as a person: 403 `CallerHasNoIdentity` without a core identity, but for those of an exempt role. */
  readonly identity?: { readonly exempt: readonly Role[] }
  /** Path parameters that are not GUIDs. */
  readonly parameters?: Readonly<Record<string, TSchema>>
  readonly query?: TObject
  readonly body?: TSchema
  /** Bytes. 1 MiB unless said otherwise. */
  readonly bodyLimitBytes?: number
  /** The body is a list of items, of which one that is faulty fails alone: its texts are the route's own to look at. */
  readonly itemsFailAlone?: true
  readonly reply: {
    readonly status: 200 | 201 | 202
    readonly schema: TSchema
    readonly paged?: true
    /** With an `ETag`; a GET then heeds `If-None-Match`. */
    readonly versioned?: true
  }
  /** What this operation may refuse beyond finding, authentication, authorisation and validation. */
  readonly refusals: readonly RefusalCode[]
  readonly run: (input: RouteInput) => Promise<RouteResult>
}

/** The routes below one prefix: one HTTP function. */
export type RouteGroup = {
  /** Without slashes at its ends: `group-link/beta`. */
  readonly prefix: string
  readonly routes: readonly Route[]
}

type Typed<Query extends TObject, Body extends TSchema> = Omit<Route, 'query' | 'body' | 'run'> & {
  readonly query?: Query
  readonly body?: Body
  readonly run: (input: RouteInput<Static<Query>, Static<Body>>) => Promise<RouteResult>
}

/** Ties the types of `query` and `body` that `run` sees to their schemas. */
export function route<Query extends TObject, Body extends TSchema>(definition: Typed<Query, Body>): Route {
  return definition as unknown as Route
}

/** Whether the operation makes something new, so that sending it twice would make two. */
export function isCreating({ reply }: Pick<Route, 'reply'>): boolean {
  return reply.status === 201
}

/** The value of a path parameter. One that the route's path does not name is a fault. */
export function pathValue(path: Readonly<Record<string, string>>, name: string): string {
  const value = path[name]
  if (value === undefined) throw new Error(`The route has no path parameter ${name}`)
  return value
}

/** The caller's identity, on a route that exempts nobody from having one. */
export function actingIdentity({ identityId }: Pick<RouteInput, 'identityId'>): string {
  if (identityId === undefined) throw new Error('The route does not ask for the identity of the caller')
  return identityId
}

/** The data alone. */
export function ok<T>(data: T): RouteResult<T> {
  return { data }
}

/** A record with its version as `ETag`. */
export function okVersioned<T, Record>(
  { value, version }: Versioned<T>,
  toRecord: (value: T) => Record,
): RouteResult<Record> {
  return { data: toRecord(value), headers: { etag: version } }
}

/** A new thing: its id, and where it is. `collectionPath` is without slashes at its ends. */
export function created(collectionPath: string, id: string): RouteResult<string> {
  return { data: id, headers: { location: `/${collectionPath}/${id}` } }
}

/** The answer to a deletion, once it is done. */
export async function deleted(deletion: Promise<void>): Promise<RouteResult<null>> {
  await deletion
  return { data: null }
}

/** Refused before a route is found, so documented for all paths at once. */
export const REFUSALS_BEFORE_ROUTING: readonly RefusalCode[] = ['RouteNotFound', 'MethodNotAllowed']

const VALIDATION: readonly RefusalCode[] = ['InvalidType', 'InvalidValue', 'InvalidLength', 'InvalidId']
const BODY: readonly RefusalCode[] = [
  'BodyRequired',
  'BodyTooLarge',
  'BodyTooDeep',
  'UnsupportedMediaType',
  'InvalidJson',
  'MissingMember',
]

const CREATION: readonly RefusalCode[] = ['IdempotencyKeyInvalid', 'IdempotencyKeyReused', 'IdempotencyKeyInUse']

/** Every code that a route can refuse with, sorted: its own, and those of the steps that run before it. */
export function refusalsOf(route: Route): RefusalCode[] {
  const { roles, identity, query, body, parameters, path, refusals } = route
  const named = pathParameters(path)
  const codes = new Set<RefusalCode>(['TokenMissing', 'TokenInvalid', 'TokenNotVerified', 'RoleRequired', ...refusals])
  const add = (isSo: boolean, ...more: readonly RefusalCode[]) => {
    if (isSo) for (const code of more) codes.add(code)
  }
  add(roles.every(isUserRole), 'UsersOnly')
  add(identity !== undefined, 'CallerHasNoIdentity')
  add(
    named.some((name) => parameters?.[name] === undefined),
    'InvalidId',
  )
  add(query !== undefined || body !== undefined || parameters !== undefined, ...VALIDATION)
  add(isRequiringMembers(query), 'MissingMember')
  add(body !== undefined, ...BODY)
  add(isCreating(route), ...CREATION)
  return [...codes].sort()
}

/** The names of a path's parameters, in their order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function isRequiringMembers(schema: TSchema | undefined): boolean {
  return ((schema as { required?: readonly string[] } | undefined)?.required ?? []).length > 0
}
