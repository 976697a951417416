import type { Container } from '@azure/cosmos'
import type { CoreObject, ObjectType } from '../../domain/core/core-object.ts'
import type { SearchScope } from '../../domain/core/core-object-store.ts'
import { compareNames, foldedText } from '../../domain/core/search-text.ts'
import { isGuid } from '../../kernel/guid.ts'
import { queryAll, queryDocuments } from '../documents.ts'
import { type CoreObjectDocument, coreObject } from './core-object-document.ts'

type Searchable = {
  /** Properties compared exactly. */
  readonly exact: readonly string[]
  /** Properties compared exactly, for callers who may read them. */
  readonly personal: readonly string[]
  /** Properties compared in lower case, the only form in which they are stored. */
  readonly ids: readonly string[]
  /** Attributes searched for a substring, without case. */
  readonly substring: readonly string[]
  /** The attribute that determines the order of matches. */
  readonly name: string
}

/** The attributes that a search compares with its text: exactly, or parts of them. */
const SEARCHABLE: Record<ObjectType, Searchable> = {
  identity: {
    exact: ['attributes.directoryOnPremisesSamAccountName'],
    personal: ['attributes.nin'],
    ids: ['attributes.directoryObjectId'],
    substring: ['displayName', 'email', 'directoryUserPrincipalName'],
    name: 'displayName',
  },
  orgUnit: {
    exact: ['externalId'],
    personal: [],
    ids: [],
    substring: ['displayName', 'email'],
    name: 'displayName',
  },
  relationship: { exact: ['attributes.employeeId'], personal: [], ids: [], substring: ['title'], name: 'title' },
}

/**
 * The search properties of a live object's document, so that one index serves both the substring match and the order.
 * They are grouped by object type so that a search for identities does not scan the titles of relationships.
 */
type SearchTexts = { readonly [type in ObjectType]?: { readonly text: string; readonly name: string } }

/** Sorts after every name. */
const NAMELESS = '\u{10ffff}'

/**
 * The stored name by which the database orders matches: without case and marks, so that its order by code point is
 * close to that of `compareNames`, by which the matches that it returns are ordered.
 */
const orderedName = (name: unknown): string =>
  name === undefined ? NAMELESS : folded(String(name)).normalize('NFD').replaceAll(/\p{M}/gu, '')

/** Returns the search properties that are written with each live object. */
export function searchTexts(objectType: ObjectType, attributes: Readonly<Record<string, unknown>>): SearchTexts {
  const { substring, name } = SEARCHABLE[objectType]
  const texts = substring.flatMap((attribute) => attributes[attribute] ?? []).map((text) => folded(String(text)))
  return { [objectType]: { text: texts.join('\n'), name: orderedName(attributes[name]) } }
}

const inOneLine = (text: string): string => text.replaceAll('\n', ' ')

/** Attributes are joined by line breaks. A search text has none, so no match spans two attributes. */
const folded = (text: string): string => inOneLine(foldedText(text))

/** Ids sent with one query, far below the database's limit. For larger scopes, matches are compared in memory. */
const IDS_PER_QUERY_COUNT = 2000

/** Ids of matches in one response when matches are compared with the scope in memory. */
const MATCHES_PER_RESPONSE_COUNT = 2000

type Search = {
  readonly objectType: ObjectType
  readonly text: string
  /** Restricts the search to these objects; undefined for all. */
  readonly among: SearchScope | undefined
  readonly limit: number
}

/** Returns the first matches by display name or title, then id. Objects without a name come last. */
export async function matchingCoreObjects(
  container: Container,
  tenantId: string,
  search: Search,
): Promise<CoreObject[]> {
  const { objectType, text, among, limit } = search
  if (among?.count === 0) return []
  const { exact, personal, ids, name } = SEARCHABLE[objectType]
  const wanted: { condition: string; text: string; isPersonal?: true }[] = [
    { condition: `CONTAINS(${searchProperty(objectType)}.text, @text)`, text: folded(text) },
    ...exact.map((property) => ({ condition: `c.${property} = @text`, text })),
    ...personal.map((property) => ({ condition: `c.${property} = @text`, text, isPersonal: true as const })),
    ...(isGuid(text) ? ids.map((property) => ({ condition: `c.${property} = @text`, text: text.toLowerCase() })) : []),
  ]
  const matches = among !== undefined && among.count > IDS_PER_QUERY_COUNT ? matchesInLargeScope : firstMatches
  // One query per condition: each uses its own index, and conditions combined with OR would use none.
  const found = await Promise.all(
    wanted.map(async ({ isPersonal, ...variant }) => {
      const documents = await matches(container, tenantId, { ...search, ...variant })
      const objects = documents.map(coreObject)
      return isPersonal && among !== undefined ? objects.filter((object) => among.isFoundByNin(object)) : objects
    }),
  )
  const byId = new Map(found.flat().map((object) => [object.id, object]))
  return [...byId.values()].sort(byNameThenId(name)).slice(0, limit)
}

const searchProperty = (objectType: ObjectType): string => `c.search.${objectType}`

type Match = Search & { readonly condition: string }

/** Returns the first matches of one condition, in a small scope or among all objects. */
function firstMatches(container: Container, tenantId: string, match: Match): Promise<CoreObjectDocument[]> {
  const { among, limit, text } = match
  return queryAll<CoreObjectDocument>(container, tenantId, {
    query: `SELECT TOP @limit * ${fromMatches(match, among === undefined ? [] : ['ARRAY_CONTAINS(@among, c.id)'])}`,
    parameters: [
      { name: '@limit', value: limit },
      { name: '@text', value: text },
      ...(among === undefined ? [] : [{ name: '@among', value: [...among.ids()] }]),
    ],
  })
}

/**
 * Returns the first matches of one condition in a scope so large that most matches are likely to be in it. It reads the
 * ids of matches in order until enough are in the scope, which costs no more than the same search without a scope.
 */
async function matchesInLargeScope(
  container: Container,
  tenantId: string,
  match: Match,
): Promise<CoreObjectDocument[]> {
  const { among, limit, text } = match
  const query = { query: `SELECT c.id ${fromMatches(match, [])}`, parameters: [{ name: '@text', value: text }] }
  const options = { maxItemCount: MATCHES_PER_RESPONSE_COUNT }
  const ids: string[] = []
  for await (const rows of queryDocuments<{ id: string }>(container, tenantId, query, options)) {
    ids.push(...rows.map(({ id }) => id).filter((id) => among?.has(id)))
    if (ids.length >= limit) break
  }
  return queryAll<CoreObjectDocument>(container, tenantId, {
    query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = false',
    parameters: [{ name: '@ids', value: ids.slice(0, limit) }],
  })
}

/** Only live objects have the name property. The range condition lets a composite index provide the order. */
function fromMatches({ objectType, condition }: Match, more: readonly string[]): string {
  const name = `${searchProperty(objectType)}.name`
  return `FROM c WHERE ${[`${name} >= ''`, condition, ...more].join(' AND ')} ORDER BY ${name}`
}

/** Objects without a name come last. */
const byNameThenId = (name: string) => (left: CoreObject, right: CoreObject) => {
  const [first, second] = [left.attributes[name], right.attributes[name]]
  if ((first === undefined) !== (second === undefined)) return first === undefined ? 1 : -1
  return compareNames(String(first), String(second)) || (left.id < right.id ? -1 : 1)
}
