import type { TSchema } from 'typebox'
import { isUserRole } from '../kernel/caller.ts'
import type { RefusalCode } from '../kernel/refusals.ts'
import { isCreating, type Route } from './route.ts'

/** Refused before a route is found, so documented for all paths at once. */
export const REFUSED_BEFORE_ROUTES: readonly RefusalCode[] = ['RouteNotFound', 'MethodNotAllowed']

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
