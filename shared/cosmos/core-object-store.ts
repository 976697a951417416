import type { Container } from '@azure/cosmos'
import type { CoreObjectWrite, CoreObjectWriter } from '../domain/connectors/merge-core-objects.ts'
import type { MergedCoreObject } from '../domain/connectors/merged-core-object.ts'
import { type CoreObject, isObjectType, type ObjectType } from '../domain/core/core-object.ts'
import type { CoreObjectReader, DeletedCoreObjects, SearchScope } from '../domain/core/core-object-store.ts'
import { isGuid } from '../kernel/guid.ts'
import { type QueryParameters, queryAll, queryDocuments, type Stored, sqlParameters } from './documents.ts'
import { readPage } from './keyset-page.ts'
import { type VersionedWrite, writeVersioned } from './versioned-writes.ts'

/** A document of the container `coreObjects`. A deleted one has a `ttl`. */
export type CoreObjectDocument = Stored<MergedCoreObject & { readonly tenantId: string; readonly ttl?: number }>

/** @throws Error when the document is not a core object. */
export function parsedMerged(document: CoreObjectDocument): MergedCoreObject {
  const { id, objectType, externalId, attributes, contributors, deleted, accountMovedAtMs } = document
  const isWhole = typeof externalId === 'string' && typeof attributes === 'object' && Array.isArray(contributors)
  if (!isWhole || !isObjectType(objectType)) throw new Error(`The stored core object ${id} is not one`)
  const merged = { id, objectType, externalId, attributes, contributors, deleted: deleted === true }
  return accountMovedAtMs === undefined ? merged : { ...merged, accountMovedAtMs }
}

/** The same with the store's own time. @throws Error when the document is not a core object. */
export function parsedCoreObject(document: CoreObjectDocument): CoreObject {
  const { id, objectType, externalId, attributes, deleted } = parsedMerged(document)
  return { id, objectType, externalId, attributes, deleted, lastUpdatedS: document._ts }
}

const DAY_S = 24 * 60 * 60

/** As many as a page of a list may have: a page by ids comes in one answer, if it is not too large for one. */
const DOCUMENTS_PER_ANSWER_COUNT = 5000

/** Container `coreObjects`, partition key `/tenantId`; deleted documents stay for a while, with a `ttl`. */
export function cosmosCoreObjectStore(container: Container): CoreObjectReader & CoreObjectWriter {
  const find = (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return queryAll<CoreObjectDocument>(container, tenantId, query, { maxItemCount: DOCUMENTS_PER_ANSWER_COUNT })
  }
  const findLive = async (...query: Parameters<typeof find>): Promise<CoreObject[]> =>
    (await find(...query))
      .filter(({ deleted }) => !deleted)
      .map(parsedCoreObject)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
  return {
    async mergedOfIds(tenantId, ids) {
      if (ids.length === 0) return []
      const documents = await find(tenantId, 'ARRAY_CONTAINS(@ids, c.id)', { ids })
      return documents.map((document) => ({ value: parsedMerged(document), version: document._etag }))
    },
    write: (tenantId, writes, softDeletionDays) =>
      writeVersioned(
        container,
        tenantId,
        writes.map((write) => documentWrite(tenantId, write, softDeletionDays)),
      ),
    async ofIds(tenantId, objectType, ids) {
      if (ids.length === 0) return []
      return (await findLive(tenantId, 'ARRAY_CONTAINS(@ids, c.id)', { ids })).filter(
        (object) => object.objectType === objectType,
      )
    },
    async page(tenantId, objectType, after, size) {
      const page = await readPage<CoreObjectDocument>(container, tenantId, {
        where: 'c.objectType = @objectType AND c.deleted = false',
        parameters: [{ name: '@objectType', value: objectType }],
        after,
        size,
      })
      return { ...page, items: page.items.map(parsedCoreObject) }
    },
    async relationshipsOf(tenantId, end, ids) {
      if (ids.length === 0) return []
      return findLive(tenantId, `ARRAY_CONTAINS(@ids, c.attributes.${end}.objectId)`, { ids })
    },
    search: (tenantId, objectType, text, among, limit) =>
      searchCoreObjectDocuments(container, tenantId, { objectType, text, among, limit }),
  }
}

function documentWrite(
  tenantId: string,
  { object, version }: CoreObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  const { objectType, attributes, deleted } = object
  const membershipResolver = deleted
    ? { ttl: softDeletionDays * DAY_S }
    : { search: searchTexts(objectType, attributes) }
  const document = { ...object, tenantId, ...membershipResolver }
  return { document: document as unknown as VersionedWrite['document'], version }
}

/** The same container, for what is soft-deleted. */
export function cosmosDeletedCoreObjects(container: Container): DeletedCoreObjects {
  return {
    async ofIds(tenantId, ids) {
      if (ids.length === 0) return []
      const query = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = true'
      const parameters = [{ name: '@ids', value: [...ids] }]
      return (await queryAll<CoreObjectDocument>(container, tenantId, { query, parameters })).map(parsedCoreObject)
    },
  }
}

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

/** What a search over a tenant looks at and sorts by, written with each object. */
export function searchTexts(objectType: ObjectType, attributes: Readonly<Record<string, unknown>>): SearchTexts {
  const { substring, name } = SEARCHABLE[objectType]
  const texts = substring.flatMap((attribute) => attributes[attribute] ?? []).map((text) => folded(String(text)))
  return { [objectType]: { text: texts.join('\n'), name: inOneLine(String(attributes[name] ?? NAMELESS)) } }
}

const inOneLine = (text: string): string => text.replaceAll('\n', ' ')

/** No search goes over the border between two attributes, which is the end of a line. */
const folded = (text: string): string => inOneLine(text).toLowerCase()

/** So many ids go with a query, far fewer than the store takes; of more, what matches is held against them. */
const IDS_PER_QUERY_COUNT = 2000

/** Ids of matches in one answer of the store, where they are held against what is looked among. */
const MATCHES_PER_ANSWER_COUNT = 2000

type Search = {
  readonly objectType: ObjectType
  readonly text: string
  /** Only these objects; undefined for all. */
  readonly among: SearchScope | undefined
  readonly limit: number
}

/** The first matches by display name or title and then id, those without one last. */
export async function searchCoreObjectDocuments(
  container: Container,
  tenantId: string,
  search: Search,
): Promise<CoreObject[]> {
  const { objectType, text, among, limit } = search
  if (among?.count === 0) return []
  const { exact, ids, name } = SEARCHABLE[objectType]
  const wanted = [
    { condition: `CONTAINS(${searched(objectType)}.text, @text)`, text: folded(text) },
    ...exact.map((property) => ({ condition: `c.${property} = @text`, text })),
    ...(isGuid(text) ? ids.map((property) => ({ condition: `c.${property} = @text`, text: text.toLowerCase() })) : []),
  ]
  const matches = among !== undefined && among.count > IDS_PER_QUERY_COUNT ? matchesAmongMany : firstMatches
  // One query for each, for each has its own index; together with OR they would have none.
  const found = await Promise.all(wanted.map((each) => matches(container, tenantId, { ...search, ...each })))
  const byId = new Map(found.flat().map((document) => [document.id, parsedCoreObject(document)]))
  return [...byId.values()].sort(byNameThenId(name)).slice(0, limit)
}

const searched = (objectType: ObjectType): string => `c.search.${objectType}`

type Match = Search & { readonly condition: string }

/** The first of one query, among few ids or all. */
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
 * The first of one query among so many ids that most matches are likely to be some of them: matches are gone through in
 * their order, by their ids, until there are enough. That costs no more than the same text costs without a limit.
 */
async function matchesAmongMany(container: Container, tenantId: string, match: Match): Promise<CoreObjectDocument[]> {
  const { among, limit, text } = match
  const query = { query: `SELECT c.id ${fromMatches(match, [])}`, parameters: [{ name: '@text', value: text }] }
  const options = { maxItemCount: MATCHES_PER_ANSWER_COUNT }
  const ids: string[] = []
  for await (const answer of queryDocuments<{ id: string }>(container, tenantId, query, options)) {
    ids.push(...answer.map(({ id }) => id).filter((id) => among?.has(id)))
    if (ids.length >= limit) break
  }
  return queryAll<CoreObjectDocument>(container, tenantId, {
    query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = false',
    parameters: [{ name: '@ids', value: ids.slice(0, limit) }],
  })
}

/** Only live objects have a name to be ordered by: saying so lets an index give the order. */
function fromMatches({ objectType, condition }: Match, more: readonly string[]): string {
  const name = `${searched(objectType)}.name`
  return `FROM c WHERE ${[`${name} >= ''`, condition, ...more].join(' AND ')} ORDER BY ${name}`
}

const byNameThenId = (name: string) => (one: CoreObject, other: CoreObject) =>
  compareText(String(one.attributes[name] ?? NAMELESS), String(other.attributes[name] ?? NAMELESS)) ||
  compareText(one.id, other.id)

/** By code point, as the store does it. */
const compareText = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
