import { refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type Collection,
  type CollectionKind,
  type CollectionObjectType,
  type CollectionResults,
  normalisedTerm,
  TAG_LENGTH_LIMIT,
} from './collection.ts'
import type { CollectionDependencies, CollectionFilter } from './collection-dependencies.ts'
import { joinedMembersOf } from './membership-store.ts'
import { found } from './write-collection.ts'

type ReadDependencies = Pick<CollectionDependencies, 'collections' | 'memberships' | 'joined' | 'nowMs'>

/** @throws Refusal `CollectionNotFound`, also for a collection of the other kind. */
export async function readCollection(
  tenantId: string,
  id: string,
  kind: CollectionKind | undefined,
  deps: Pick<ReadDependencies, 'collections'>,
): Promise<Versioned<Collection>> {
  return found(await deps.collections.find(tenantId, id, kind), id)
}

/** By name, then id. */
export async function listCollections(
  tenantId: string,
  filter: { readonly kind?: CollectionKind; readonly objectType?: CollectionObjectType },
  deps: Pick<ReadDependencies, 'collections'>,
): Promise<Collection[]> {
  const { kind, objectType } = filter
  const collections = await deps.collections.list(tenantId, kind)
  return objectType === undefined
    ? collections
    : collections.filter((collection) => collection.objectType === objectType)
}

/** Lists the collections that match a filter, by name. */
export async function searchCollections(
  tenantId: string,
  filter: CollectionFilter,
  deps: Pick<ReadDependencies, 'collections'>,
): Promise<Collection[]> {
  return deps.collections.search(tenantId, filter)
}

/**
 * The filter for search terms, normalised as stored ones are. Tags may be repeated or comma-separated; an attribute has
 * the form `key:value`, split at the first colon. A tag may contain commas, so a parameter also
 * matches the tag that equals all of it.
 * @throws Refusal `InvalidValue` for an attribute without a colon or a key, and for an empty tag.
 */
export function searchFilter(tags: readonly string[] = [], attributes: readonly string[] = []): CollectionFilter {
  throwIfRefused([
    ...tags
      .filter((term) => normalisedTerm(term) === '')
      .map(() => refusalEntry('InvalidValue', 'A tag cannot be empty', 'tags')),
    ...attributes
      .filter((term) => !/^\s*[^\s:][^:]*:/.test(term))
      .map((term) => refusalEntry('InvalidValue', `${term} does not have the form key:value`, 'attributes')),
  ])
  return {
    tags: tags.flatMap(tagsAsked),
    attributes: attributes.map((term) => {
      const colon = term.indexOf(':')
      return { key: normalisedTerm(term.slice(0, colon)), value: term.slice(colon + 1) }
    }),
  }
}

/** Alternatives for one `tags` parameter: each of its parts, or the whole parameter. */
function tagsAsked(parameter: string): string[][] {
  const whole = normalisedTerm(parameter)
  const parts = whole.split(',').map(normalisedTerm)
  const mayBeTag = parts.length > 1 && characterCount(whole) <= TAG_LENGTH_LIMIT
  return parts.filter((part) => part !== '').map((part) => (mayBeTag ? [part, whole] : [part]))
}

/** The members of a collection: of a criteria collection as last evaluated, of a joinable one as of now. */
export async function readResults(
  tenantId: string,
  id: string,
  kind: CollectionKind | undefined,
  deps: ReadDependencies,
): Promise<CollectionResults> {
  const { value: collection } = await readCollection(tenantId, id, kind, deps)
  const { name, description, objectType } = collection
  return { collectionId: id, name, description, objectType, ...(await membersOf(collection, deps)) }
}

async function membersOf(
  { tenantId, id, kind }: Collection,
  deps: ReadDependencies,
): Promise<Pick<CollectionResults, 'memberIds' | 'evaluatedAt'>> {
  if (kind === 'joinable') {
    const { memberships } = await joinedMembersOf(tenantId, id, deps.joined)
    return {
      memberIds: memberships.map(({ identityId, relationshipId }) => ({ objectId: identityId, relationshipId })),
      evaluatedAt: toTimestamp(deps.nowMs()),
    }
  }
  const membership = await deps.memberships.members(tenantId, id)
  return {
    memberIds: [...(membership?.ids ?? [])],
    evaluatedAt: membership === undefined ? null : toTimestamp(membership.head.evaluatedAtMs),
  }
}

/**
 * The ids that are members, each once, in the given order. Members of a joinable collection are identities and
 * relationships.
 */
export async function filterMembers(
  tenantId: string,
  id: string,
  kind: CollectionKind | undefined,
  ids: readonly string[],
  deps: ReadDependencies,
): Promise<string[]> {
  const { value: collection } = await readCollection(tenantId, id, kind, deps)
  const candidates = [...new Set(ids)]
  const members =
    collection.kind === 'joinable'
      ? await joinedObjects(collection, deps)
      : await deps.memberships.membersAmong(tenantId, id, candidates)
  return candidates.filter((candidate) => members.has(candidate))
}

async function joinedObjects(
  { tenantId, id }: Collection,
  { joined }: Pick<ReadDependencies, 'joined'>,
): Promise<Set<string>> {
  const { memberships } = await joinedMembersOf(tenantId, id, joined)
  return new Set(memberships.flatMap(({ identityId, relationshipId }) => [identityId, relationshipId ?? identityId]))
}

/** The ids in a body of filter-members: a list, or `{ ids }`. */
export function candidateIds(body: readonly string[] | { readonly ids: readonly string[] }): readonly string[] {
  return 'ids' in body ? body.ids : body
}
