import { isDeepStrictEqual } from 'node:util'
import type { CollectionDto, CriteriaCollectionDto } from '../../shared/domain/collections/collection.ts'
import type { TenantSchemas } from '../../shared/domain/collections/condition-entry.ts'
import { type AttributeType, type ConditionSchema, storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import type { GroupLinkDto } from '../../shared/domain/group-links/group-link.ts'
import type { LinkableGroup } from '../../shared/domain/group-links/search-groups.ts'
import type { JoinableCollectionDto } from '../../shared/domain/membership-requests/joinable-collection.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import { isGuid } from '../../shared/kernel/guid.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import type { ApiCall } from '../import/api-connection.ts'
import { isObject } from './references.ts'

export type CollectionKind = 'criteria' | 'joinable'

/** The member that decides the members of a collection. */
export const DEFINITION_MEMBER = { criteria: 'condition', joinable: 'joinPolicy' } as const

/** Paths of the API. */
export const COLLECTIONS = { criteria: '/collections-criteria/beta', joinable: '/collections-joinable/beta' } as const
/** Lists the collections of both kinds. */
export const ALL_COLLECTIONS = '/collections/beta'
export const LINKS = '/group-link/beta/group-links'
export const SETTINGS = '/group-link/beta/settings'

/** A collection as the API returns it. */
export type CollectionRecord = { readonly kind: CollectionKind } & Pick<
  CollectionDto,
  'id' | 'name' | 'objectType' | 'description' | 'metadata'
> & { readonly definition: JsonObject }

export type LinkRecord = Pick<
  GroupLinkDto,
  'id' | 'collectionId' | 'directoryGroupId' | 'directoryGroupDisplayName' | 'state'
>

/** What the API has of all that files define. */
export type Tenant = {
  readonly collections: readonly CollectionRecord[]
  readonly links: readonly LinkRecord[]
  readonly settings: JsonObject
  /** Attributes of conditions, those included that only stored conditions still read. */
  readonly schema: ConditionSchema
}

/** Reads all definitions of the tenant. @throws CommandError */
export async function readTenant(call: ApiCall): Promise<Tenant> {
  const [criteria, joinable, settings, schemas, links] = await Promise.all([
    call('GET', COLLECTIONS.criteria),
    call('GET', COLLECTIONS.joinable),
    call('GET', SETTINGS),
    call('GET', `${COLLECTIONS.criteria}/tenant-schemas`),
    readLinks(call),
  ])
  const schema = storedConditionSchema() as Map<string, AttributeType>
  const attributes = Object.entries((schemas.data as TenantSchemas).identitySchema)
  for (const [name, type] of attributes) schema.set(name, type as AttributeType)
  return {
    collections: [
      ...(criteria.data as CriteriaCollectionDto[]).map((dto) => recordOf('criteria', dto)),
      ...(joinable.data as JoinableCollectionDto[]).map((dto) => recordOf('joinable', dto)),
    ],
    links,
    settings: settings.data as JsonObject,
    schema,
  }
}

export function recordOf(kind: CollectionKind, dto: CriteriaCollectionDto | JoinableCollectionDto): CollectionRecord {
  const { id, name, objectType, description, metadata } = dto
  const definition = (dto as unknown as Record<string, JsonObject>)[DEFINITION_MEMBER[kind]] ?? {}
  return { kind, id, name, objectType, description, metadata, definition }
}

const LINKS_PER_PAGE = 500

async function readLinks(call: ApiCall): Promise<LinkRecord[]> {
  const links: LinkRecord[] = []
  let query: string | undefined = `pageSize=${LINKS_PER_PAGE}`
  while (query !== undefined) {
    const { data, nextCursor } = await call('GET', `${LINKS}?${query}`)
    links.push(...(data as LinkRecord[]))
    query = nextCursor === undefined ? undefined : `nextCursor=${encodeURIComponent(nextCursor)}`
  }
  return links
}

/** Searches of groups that run at the same time. */
const SEARCHES_AT_ONCE_COUNT = 4
/** Limits of `searchDirectoryGroups`. */
const [MIN_TEXT_LENGTH, MAX_TEXT_LENGTH, MAX_GROUPS_COUNT] = [2, 256, 50]

/** The ids of the groups with exactly these display names. */
export async function findGroups(
  names: Iterable<string>,
  call: ApiCall,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const searched = [...new Set(names)].filter(isSearchable)
  await forEachConcurrent(searched, SEARCHES_AT_ONCE_COUNT, async (name) => {
    const { data } = await call('GET', `/group-link/beta/groups?text=${encodeURIComponent(name)}`)
    const groups = data as LinkableGroup[]
    // The search may leave out others of the name.
    const isComplete = groups.length < MAX_GROUPS_COUNT
    const named = isComplete ? groups.filter(({ displayName }) => displayName === name) : []
    found.set(
      name,
      named.map(({ id }) => id),
    )
  })
  return found
}

const isSearchable = (name: string): boolean =>
  name.trim().length >= MIN_TEXT_LENGTH && name.length <= MAX_TEXT_LENGTH && !isGuid(name)

/** Names by the value that they name; only names that name one value. */
export function uniqueNames<Value>(
  values: readonly Value[],
  nameOf: (value: Value) => string,
): ReadonlyMap<string, Value> {
  const byName = Map.groupBy(values, nameOf)
  return new Map([...byName].flatMap(([name, [first, second]]) => (first && !second ? [[name, first]] : [])))
}

/** Whether a value has all members that are wanted, with their values. */
export function contains(stored: Json | undefined, wanted: Json | undefined): boolean {
  if (!isObject(wanted) || !isObject(stored)) return isDeepStrictEqual(stored, wanted)
  return Object.entries(wanted).every(([name, value]) => contains(stored[name], value))
}
