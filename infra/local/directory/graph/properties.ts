import type { DirectoryObject, Properties } from '../objects.ts'
import { badRequest } from './exchange.ts'

type Schema = {
  /** Returned by default. */
  readonly usual: readonly string[]
  /** Returned only if selected. */
  readonly others: readonly string[]
}

const COMMON = ['id', 'deletedDateTime'] as const

/** Supported properties by type: those of Graph that the service reads, the seed has or a tester sets. */
const SCHEMAS: Record<DirectoryObject['type'], Schema> = {
  user: {
    usual: [
      'businessPhones',
      'displayName',
      'givenName',
      'jobTitle',
      'mail',
      'mobilePhone',
      'officeLocation',
      'preferredLanguage',
      'surname',
      'userPrincipalName',
      'id',
    ],
    others: [
      'accountEnabled',
      'createdDateTime',
      'deletedDateTime',
      'department',
      'mailNickname',
      'onPremisesSyncEnabled',
      'userType',
    ],
  },
  group: {
    usual: [
      ...COMMON,
      'createdDateTime',
      'description',
      'displayName',
      'groupTypes',
      'isAssignableToRole',
      'mail',
      'mailEnabled',
      'mailNickname',
      'membershipRule',
      'membershipRuleProcessingState',
      'onPremisesSyncEnabled',
      'securityEnabled',
      'visibility',
    ],
    others: ['isManagementRestricted'],
  },
  servicePrincipal: { usual: [...COMMON, 'appId', 'displayName'], others: ['servicePrincipalType', 'accountEnabled'] },
}

/** Write-only properties. */
const WRITE_ONLY: Record<'user' | 'group', readonly string[]> = { user: ['passwordProfile'], group: [] }

const LISTS = new Set(['businessPhones', 'groupTypes'])

/**
 * `$select`, validated against the type; a list of several types accepts the properties of each. Undefined: the default
 * properties. @throws GraphRefusal 400 for an unknown property
 */
export function selection(
  query: URLSearchParams,
  type: DirectoryObject['type'] | 'directoryObject',
): readonly string[] | undefined {
  const selected = query.get('$select')
  if (selected === null || selected.trim() === '') return undefined
  const names = namesIn(selected)
  for (const name of names) assertReadable(type, name)
  return names
}

export const namesIn = (selected: string): string[] => selected.split(',').map((name) => name.trim())

function assertReadable(type: DirectoryObject['type'] | 'directoryObject', name: string): void {
  const schemas = type === 'directoryObject' ? Object.values(SCHEMAS) : [SCHEMAS[type]]
  if (schemas.some(({ usual, others }) => usual.includes(name) || others.includes(name))) return
  throw badRequest(`Could not find a property named '${name}' on type 'microsoft.graph.${type}'.`, 'BadRequest')
}

/** The object with the selected or default properties. Properties without value are null. */
export function shown(object: DirectoryObject, selected: readonly string[] | undefined): Properties {
  const names = selected ?? SCHEMAS[object.type].usual
  const values: Record<string, unknown> = {}
  for (const name of names) values[name] = name === 'id' ? object.id : shownValue(object.properties, name)
  return values
}

const shownValue = (properties: Properties, name: string): unknown => properties[name] ?? (LISTS.has(name) ? [] : null)

/** Like `shown`, with the type, for lists of several types. Omits properties that the type does not have. */
export function shownWithType(object: DirectoryObject, selected: readonly string[] | undefined): Properties {
  const { usual, others } = SCHEMAS[object.type]
  const own = selected?.filter((name) => usual.includes(name) || others.includes(name))
  return { '@odata.type': `#microsoft.graph.${object.type}`, ...shown(object, own) }
}

/** The properties of a body that creates or changes an object. Ignores `@odata` members. */
export function writtenProperties(type: 'user' | 'group', body: unknown): Record<string, unknown> {
  const { usual, others } = SCHEMAS[type]
  const written: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(objectBody(body))) {
    if (name.includes('@odata.') || name === 'id' || WRITE_ONLY[type].includes(name)) continue
    if (!usual.includes(name) && !others.includes(name)) throw badRequest(`Invalid property '${name}'.`)
    if (LISTS.has(name) && !Array.isArray(value)) {
      throw badRequest(`Invalid value specified for property '${name}' of resource '${capitalized(type)}'.`)
    }
    written[name] = value
  }
  if ('displayName' in written && (typeof written.displayName !== 'string' || written.displayName === '')) {
    throw badRequest(`Invalid value specified for property 'displayName' of resource '${capitalized(type)}'.`)
  }
  return written
}

/** Name of a type as in Graph messages: `User`. */
export const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`

/** @throws GraphRefusal 400 unless the body is a JSON object */
export function objectBody(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw badRequest('Unable to read JSON request payload. Please ensure Content-Type header is set.', 'BadRequest')
}
