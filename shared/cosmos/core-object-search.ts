import type { Container } from '@azure/cosmos'
import type { CoreObject, ObjectType } from '../domain/core/core-object.ts'
import { isGuid } from '../domain/is-guid.ts'
import { type CoreObjectDocument, parsedCoreObject } from './core-object-document.ts'
import { queryAll } from './documents.ts'

type Searchable = {
  /** Properties compared as they are. */
  readonly exact: readonly string[]
  /** Properties compared in lower case, the only form in which they are stored. */
  readonly ids: readonly string[]
  /** Attributes searched for the text, whatever its case. */
  readonly substring: readonly string[]
  /** The attribute by which matches are ordered. */
  readonly name: string
}

/** Statement, "Core objects": the searchable attributes. */
const SEARCHABLE: Record<ObjectType, Searchable> = {
  identity: {
    exact: ['attributes.nin', 'attributes.directoryOnPremisesSamAccountName'],
    ids: ['attributes.directoryObjectId'],
    substring: ['displayName', 'email', 'directoryUserPrincipalName'],
    name: 'displayName',
  },
  orgUnit: { exact: ['externalId'], ids: [], substring: ['displayName', 'email'], name: 'displayName' },
  relationship: { exact: ['attributes.employeeId'], ids: [], substring: ['title'], name: 'title' },
}

/**
 * What a live object's document carries so that one look at one index finds it by any of its texts, in order. Below the
 * name of its type, lest a search for people go through the titles of positions.
 */
export type SearchTexts = { readonly [type in ObjectType]?: { readonly text: string; readonly name: string } }

/** Comes after every name. */
const NAMELESS = '\u{10ffff}'

export function searchTexts(objectType: ObjectType, attributes: Readonly<Record<string, unknown>>): SearchTexts {
  const { substring, name } = SEARCHABLE[objectType]
  const texts = substring.flatMap((attribute) => attributes[attribute] ?? []).map((text) => folded(String(text)))
  return { [objectType]: { text: texts.join('\n'), name: inOneLine(String(attributes[name] ?? NAMELESS)) } }
}

const inOneLine = (text: string): string => text.replaceAll('\n', ' ')

/** No search goes over the border between two attributes, which is the end of a line. */
const folded = (text: string): string => inOneLine(text).toLowerCase()
/** Keeps a query's parameters far below what the store takes. */
const IDS_PER_QUERY_COUNT = 2000

type Search = {
  readonly objectType: ObjectType
  readonly text: string
  /** Only objects with these ids; undefined for all. */
  readonly among: ReadonlySet<string> | undefined
  readonly limit: number
}

/** The first matches by display name or title and then id, those without one last. */
export async function searchCoreObjectDocuments(
  container: Container,
  tenantId: string,
  search: Search,
): Promise<CoreObject[]> {
  const { objectType, text, among, limit } = search
  const { exact, ids, name } = SEARCHABLE[objectType]
  const wanted = [
    { condition: `CONTAINS(${searched(objectType)}.text, @text)`, text: folded(text) },
    ...exact.map((property) => ({ condition: `c.${property} = @text`, text })),
    ...(isGuid(text) ? ids.map((property) => ({ condition: `c.${property} = @text`, text: text.toLowerCase() })) : []),
  ]
  // One query for each, for each has its own index; together with OR they would have none.
  const found = await Promise.all(
    wanted.flatMap((each) =>
      groupsOf(among).map((group) => matches(container, tenantId, { ...each, objectType, limit, among: group })),
    ),
  )
  const byId = new Map(found.flat().map((document) => [document.id, parsedCoreObject(document)]))
  return [...byId.values()].sort(byNameThenId(name)).slice(0, limit)
}

const searched = (objectType: ObjectType): string => `c.search.${objectType}`

type Match = {
  readonly objectType: ObjectType
  readonly condition: string
  readonly text: string
  readonly among: readonly string[] | undefined
  readonly limit: number
}

/** The first of one query. Only live objects have a name to be ordered by: saying so lets an index give the order. */
function matches(
  container: Container,
  tenantId: string,
  { objectType, condition, text, among, limit }: Match,
): Promise<CoreObjectDocument[]> {
  const name = `${searched(objectType)}.name`
  const conditions = [`${name} >= ''`, condition, ...(among === undefined ? [] : ['ARRAY_CONTAINS(@among, c.id)'])]
  return queryAll<CoreObjectDocument>(container, tenantId, {
    query: `SELECT TOP @limit * FROM c WHERE ${conditions.join(' AND ')} ORDER BY ${name}`,
    parameters: [
      { name: '@limit', value: limit },
      { name: '@text', value: text },
      ...(among === undefined ? [] : [{ name: '@among', value: [...among] }]),
    ],
  })
}

/** One query for all objects, or one for each part of the ids. */
function groupsOf(among: ReadonlySet<string> | undefined): (string[] | undefined)[] {
  if (among === undefined) return [undefined]
  const ids = [...among]
  const groups = Array.from({ length: Math.ceil(ids.length / IDS_PER_QUERY_COUNT) })
  return groups.map((_, index) => ids.slice(index * IDS_PER_QUERY_COUNT, (index + 1) * IDS_PER_QUERY_COUNT))
}

const byNameThenId = (name: string) => (one: CoreObject, other: CoreObject) =>
  compareText(String(one.attributes[name] ?? NAMELESS), String(other.attributes[name] ?? NAMELESS)) ||
  compareText(one.id, other.id)

/** By code point, as the store does it. */
const compareText = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
