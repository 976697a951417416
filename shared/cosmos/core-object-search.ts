import type { Container } from '@azure/cosmos'
import type { CoreObject, ObjectType } from '../domain/core/core-object.ts'
import { type CoreObjectDocument, parsedCoreObject } from './core-object-document.ts'
import { queryAll } from './documents.ts'

type Searchable = {
  /** Compared as they are. */
  readonly exact: readonly string[]
  /** Compared in lower case, the only form in which they are stored. */
  readonly ids: readonly string[]
  /** Searched for the text, whatever its case. */
  readonly substring: readonly string[]
  /** The attribute by which matches are ordered. */
  readonly name: string
}

/** Statement, "Core objects": the searchable attributes. */
const SEARCHABLE: Record<ObjectType, Searchable> = {
  identity: {
    exact: ['attributes.nin', 'attributes.directoryOnPremisesSamAccountName'],
    ids: ['attributes.directoryObjectId'],
    substring: ['attributes.displayName', 'attributes.email', 'attributes.directoryUserPrincipalName'],
    name: 'displayName',
  },
  orgUnit: {
    exact: ['externalId'],
    ids: [],
    substring: ['attributes.displayName', 'attributes.email'],
    name: 'displayName',
  },
  relationship: {
    exact: ['attributes.employeeId'],
    ids: [],
    substring: ['attributes.title'],
    name: 'title',
  },
}

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
  const named = await matches(container, tenantId, search, true)
  // Ordering by a name leaves out what has none.
  const others = named.length < search.limit ? await matches(container, tenantId, search, false) : []
  return [...named, ...others].slice(0, search.limit)
}

async function matches(
  container: Container,
  tenantId: string,
  { objectType, text, among, limit }: Search,
  isNamed: boolean,
): Promise<CoreObject[]> {
  const { exact, ids, substring, name } = SEARCHABLE[objectType]
  const byAttribute = [
    ...exact.map((attribute) => `c.${attribute} = @text`),
    ...ids.map((attribute) => `c.${attribute} = @id`),
    ...substring.map((attribute) => `CONTAINS(c.${attribute}, @text, true)`),
  ].join(' OR ')
  const conditions = ['c.objectType = @objectType', 'c.deleted = false', `(${byAttribute})`]
  if (!isNamed) conditions.push(`NOT IS_DEFINED(c.attributes.${name})`)
  if (among !== undefined) conditions.push('ARRAY_CONTAINS(@among, c.id)')
  const order = isNamed ? `c.attributes.${name}` : 'c.id'
  const query = `SELECT TOP @limit * FROM c WHERE ${conditions.join(' AND ')} ORDER BY ${order}`
  const found = await Promise.all(
    groupsOf(among).map((group) =>
      queryAll<CoreObjectDocument>(container, tenantId, {
        query,
        parameters: [
          { name: '@limit', value: limit },
          { name: '@objectType', value: objectType },
          { name: '@text', value: text },
          { name: '@id', value: text.toLowerCase() },
          { name: '@among', value: group },
        ],
      }),
    ),
  )
  return found.flat().map(parsedCoreObject).sort(byNameThenId(name)).slice(0, limit)
}

/** One query for all objects, or one for each part of the ids. */
function groupsOf(among: ReadonlySet<string> | undefined): string[][] {
  if (among === undefined) return [[]]
  const ids = [...among]
  const groups = Array.from({ length: Math.ceil(ids.length / IDS_PER_QUERY_COUNT) })
  return groups.map((_, index) => ids.slice(index * IDS_PER_QUERY_COUNT, (index + 1) * IDS_PER_QUERY_COUNT))
}

const byNameThenId = (name: string) => (one: CoreObject, other: CoreObject) =>
  compareText(String(one.attributes[name] ?? ''), String(other.attributes[name] ?? '')) || compareText(one.id, other.id)

const compareText = (one: string, other: string): number => (one < other ? -1 : Number(one > other))
