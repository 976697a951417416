import type { Static, TObject, TSchema } from 'typebox'
import type { Creation } from '../domain/idempotency/run-once.ts'
import type { Caller, Role } from '../kernel/caller.ts'
import type { RefusalCode } from '../kernel/refusals.ts'
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
