import type { Static, TObject, TSchema } from 'typebox'
import type { Creation } from '../domain/idempotency/run-once.ts'
import { type Caller, isUserRole, type Role } from '../kernel/caller.ts'
import type { RefusalCode } from '../kernel/refusal-register.ts'
import type { Versioned } from '../kernel/versioned.ts'
import type { RouteResult } from './envelope.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request after it has been authenticated, authorised and validated. */
export type RouteInput<Query = unknown, Body = unknown, Path = Readonly<Record<string, string>>> = {
  readonly caller: Caller
  /** The caller's core identity. Only on routes with `identity`; can be undefined there unless it is required. */
  readonly identityId: string | undefined
  /** Path parameters. GUIDs are in lower case. */
  readonly path: Path
  readonly query: Query
  readonly body: Body
  /** The value of `If-Match`; undefined when absent or `*`. */
  readonly ifMatch: string | undefined
  /** The value of `If-Plan`; undefined when absent. */
  readonly ifPlan: string | undefined
  /** Ids for new records. A retry under the same `Idempotency-Key` gets the same ids. */
  readonly creation: Creation
}

/**
 * One operation of the API as data: matching, authorization, validation, the API document and generated tests use it.
 */
export type Route = {
  readonly operationId: string
  readonly summary: string
  /** Details beyond the summary, in Markdown. */
  readonly description?: string
  readonly deprecated?: true
  readonly method: Method
  /** Below the group's prefix: `/group-links/{id}`. A `{name}` is a GUID unless `parameters` says otherwise. */
  readonly path: string
  /** Callers need one of these roles. `any`: every caller with a valid token, also one without a role. */
  readonly roles: readonly Role[] | 'any'
  /**
   * Requires a core identity (else 403 `CallerHasNoIdentity`), except for callers with an exempt role. `optional`: it
   * is looked up and not required.
   */
  readonly identity?: { readonly exempt: readonly Role[] } | 'optional'
  /** Path parameters that are not GUIDs. */
  readonly parameters?: Readonly<Record<string, TSchema>>
  readonly query?: TObject
  readonly body?: TSchema
  /** Bytes. Default: 1 MiB. */
  readonly bodyLimitBytes?: number
  /** The route validates each item of the body separately, strings included. */
  readonly itemsFailAlone?: true
  readonly reply: {
    readonly status: 200 | 201 | 202
    readonly schema: TSchema
    readonly paged?: true
    /** The schema of the warnings that responses have beside `data`. */
    readonly warnings?: TSchema
    /**
     * Responses have an `ETag`. With `true`, GET supports `If-None-Match` too. `for-writes` is for records with members
     * that are determined when they are read: the same `ETag` does not mean the same content.
     */
    readonly versioned?: true | 'for-writes'
  }
  /** Refusals other than those of routing, authentication, authorization and validation. */
  readonly refusals: readonly RefusalCode[]
  /** Those of `refusals` that this route returns as 409: see `Refusal.conflict`. */
  readonly conflicts?: readonly RefusalCode[]
  readonly run: (input: RouteInput) => Promise<RouteResult>
}

/** The routes of one HTTP function. */
export type RouteGroup = {
  /** Without leading and trailing slash: `group-link/beta`. */
  readonly prefix: string
  readonly routes: readonly Route[]
}

/** The values of the parameters in a path. */
type PathValues<Path extends string> = Readonly<Record<ParameterOf<Path>, string>>
type ParameterOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterOf<Rest> : never

type Definition<Path extends string, Query extends TObject, Body extends TSchema> = Omit<
  Route,
  'method' | 'path' | 'query' | 'body' | 'refusals' | 'run'
> & {
  readonly query?: Query
  readonly body?: Body
  readonly refusals?: readonly RefusalCode[]
  readonly run: (input: RouteInput<Static<Query>, Static<Body>, PathValues<Path>>) => Promise<RouteResult>
}

/** Gives `run` the types of the path's parameters and of the query and body schemas. */
export function route<const Path extends string, Query extends TObject, Body extends TSchema>(
  method: Method,
  path: Path,
  definition: Definition<Path, Query, Body>,
): Route {
  return { refusals: [], ...definition, method, path } as unknown as Route
}

/** Whether the operation creates a record, so that it supports `Idempotency-Key`. */
export function isCreating({ reply }: Pick<Route, 'reply'>): boolean {
  return reply.status === 201
}

/**
 * Whether the operation supports `If-Match`. A POST whose path names no record is for several, whose versions are in the
 * body.
 */
export function isConditional({ method, path, refusals }: Pick<Route, 'method' | 'path' | 'refusals'>): boolean {
  const isOfSeveral = method === 'POST' && pathParameters(path).length === 0
  return refusals.includes('PreconditionFailed') && !isOfSeveral
}

/** The caller's identity, on a route without exempt roles. @throws Error on any other route. */
export function actingIdentity({ identityId }: Pick<RouteInput, 'identityId'>): string {
  if (identityId === undefined) throw new Error('The route does not require an identity of every caller')
  return identityId
}

export function ok<T>(data: T): RouteResult<T> {
  return { data }
}

/** A result with a record and its version as `ETag`. */
export function okVersioned<T, Record>(
  { value, version }: Versioned<T>,
  toRecord: (value: T) => Record,
): RouteResult<Record> {
  return { data: toRecord(value), headers: { etag: version } }
}

/** A result with the id and `Location` of a new record. @param collectionPath Without leading and trailing slash. */
export function created(collectionPath: string, id: string): RouteResult<string> {
  return { data: id, headers: { location: `/${collectionPath}/${id}` } }
}

/** The result of a deletion, after it has completed. */
export async function deleted(deletion: Promise<void>): Promise<RouteResult<null>> {
  await deletion
  return { data: null }
}

/** Refused before routing, so documented once for all paths. */
export const REFUSALS_BEFORE_ROUTING: readonly RefusalCode[] = ['RouteNotFound', 'MethodNotAllowed']

const CALLER: readonly RefusalCode[] = [
  'TokenMissing',
  'TokenInvalid',
  'TokenNotVerified',
  'TenantNotAllowed',
  'TooManyRequests',
]
const VALIDATION: readonly RefusalCode[] = ['InvalidType', 'InvalidValue', 'InvalidLength', 'InvalidId']
const BODY: readonly RefusalCode[] = [
  'BodyRequired',
  'LengthRequired',
  'BodyTooLarge',
  'BodyTooDeep',
  'UnsupportedMediaType',
  'InvalidJson',
  'MissingMember',
  'UnknownMember',
]

const CREATION: readonly RefusalCode[] = ['IdempotencyKeyInvalid', 'IdempotencyKeyReused', 'IdempotencyKeyInUse']

/** Every refusal code of a route, sorted: its own, and those of the steps before it. */
export function refusalsOf(route: Route): RefusalCode[] {
  const { roles, identity, query, body, parameters, path, refusals } = route
  const named = pathParameters(path)
  const codes = new Set<RefusalCode>([...CALLER, 'TenantTooLarge', ...refusals])
  const add = (isSo: boolean, ...more: readonly RefusalCode[]) => {
    if (isSo) for (const code of more) codes.add(code)
  }
  add(roles !== 'any', 'RoleRequired')
  add(isForUsersOnly(route), 'UsersOnly')
  add(identity !== undefined && identity !== 'optional', 'CallerHasNoIdentity')
  add(
    named.some((name) => parameters?.[name] === undefined),
    'InvalidId',
  )
  add(query !== undefined || body !== undefined || parameters !== undefined, ...VALIDATION)
  add(isRequiringMembers(query), 'MissingMember')
  add(query !== undefined, 'UnknownParameter')
  add(body !== undefined, ...BODY)
  add(isCreating(route), ...CREATION)
  return [...codes].sort()
}

/** Whether all roles of a route can be assigned to users only. */
export function isForUsersOnly({ roles }: Pick<Route, 'roles'>): boolean {
  return roles !== 'any' && roles.every(isUserRole)
}

/** The names of a path's parameters, in their order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

function isRequiringMembers(schema: TSchema | undefined): boolean {
  return ((schema as { required?: readonly string[] } | undefined)?.required ?? []).length > 0
}
