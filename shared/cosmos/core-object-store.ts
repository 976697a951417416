import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { AccountClaim } from '../domain/connectors/account-claims.ts'
import { ObjectTypeName } from '../domain/connectors/connector-object.ts'
import type { CoreObjectWrite, CoreObjectWriter } from '../domain/connectors/merge-core-objects.ts'
import type { MergedCoreObject } from '../domain/connectors/merged-core-object.ts'
import type { CoreObject, ObjectType } from '../domain/core/core-object.ts'
import type { CoreObjectReader, DeletedCoreObjects, SearchScope } from '../domain/core/core-object-store.ts'
import { compareNames, foldedText } from '../domain/core/search-text.ts'
import { isGuid } from '../kernel/guid.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { documentParser, StoredAttributes } from './document-parser.ts'
import { catchUp, type QueryParameters, queryAll, queryDocuments, type Stored, sqlParameters } from './documents.ts'
import { readPage, readValues } from './keyset-page.ts'
import { type VersionedWrite, writeVersioned } from './versioned-writes.ts'

type CoreObjectDocument = Stored<MergedCoreObject & { readonly tenantId: string; readonly ttl?: number }>

const parse = documentParser<MergedCoreObject>(
  'core object',
  Type.Object({
    id: Type.String(),
    objectType: ObjectTypeName,
    externalId: Type.String(),
    attributes: StoredAttributes,
    contributors: Type.Array(Type.String()),
    deleted: Type.Boolean(),
    accountChangedAtMs: Type.Optional(Type.Number()),
    claimedAccount: Type.Optional(Type.String()),
    accountSinceMs: Type.Optional(Type.Number()),
    mergedInto: Type.Optional(Type.String()),
  }),
)

function coreObject(document: CoreObjectDocument): CoreObject {
  const { id, objectType, externalId, attributes, deleted } = parse(document)
  return { id, objectType, externalId, attributes, deleted, lastUpdatedS: document._ts }
}

const DAY_S = 24 * 60 * 60

/** The size of the largest list page, so that one response holds a page by ids unless it exceeds the size limit. */
const DOCUMENTS_PER_RESPONSE_COUNT = 5000

/** Container `coreObjects`, partition key `/tenantId`. Soft-deleted documents have a `ttl`. */
export function cosmosCoreObjectStore(container: Container): CoreObjectReader & CoreObjectWriter {
  const find = (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return queryAll<CoreObjectDocument>(container, tenantId, query, { maxItemCount: DOCUMENTS_PER_RESPONSE_COUNT })
  }
  const findLive = async (...query: Parameters<typeof find>): Promise<CoreObject[]> =>
    (await find(...query))
      .filter(({ deleted }) => !deleted)
      .map(coreObject)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
  return {
    catchUp: (tenantId) => catchUp(container, tenantId),
    liveIds: (tenantId, after, size) =>
      readValues(container, tenantId, { property: 'c.id', where: 'c.deleted = false', after, size }),
    async mergedOfIds(tenantId, ids) {
      if (ids.length === 0) return []
      const query = { query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', parameters: sqlParameters({ ids }) }
      const options = { maxItemCount: DOCUMENTS_PER_RESPONSE_COUNT }
      const found: Versioned<MergedCoreObject>[] = []
      // Page by page: parsing thousands at once would block other requests.
      for await (const documents of queryDocuments<CoreObjectDocument>(container, tenantId, query, options)) {
        found.push(...documents.map((document) => ({ value: parse(document), version: document._etag })))
      }
      return found
    },
    write: (tenantId, writes, softDeletionDays) =>
      writeVersioned(
        container,
        tenantId,
        writes.values().map((write) => documentWrite(tenantId, write, softDeletionDays)),
      ),
    claimsTo: (tenantId, accounts) => claimsTo(container, tenantId, accounts),
    async unmetClaims(tenantId) {
      const rows = await queryAll<ClaimRow>(container, tenantId, {
        query: `SELECT ${CLAIM} FROM c WHERE IS_DEFINED(c.claimedAccount) AND c.deleted = false`,
      })
      return rows.map(accountClaim)
    },
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
      return { ...page, items: page.items.map(coreObject) }
    },
    async relationshipsOf(tenantId, end, ids) {
      if (ids.length === 0) return []
      return findLive(tenantId, `ARRAY_CONTAINS(@ids, c.attributes.${end}.objectId)`, { ids })
    },
    search: (tenantId, objectType, text, among, limit) =>
      searchDocuments(container, tenantId, { objectType, text, among, limit }),
  }
}

type ClaimRow = { readonly id: string; readonly held?: string; readonly claimed?: string; readonly sinceMs?: number }

const CLAIM = 'c.id, c.attributes.directoryObjectId AS held, c.claimedAccount AS claimed, c.accountSinceMs AS sinceMs'

function accountClaim({ id, held, claimed, sinceMs = 0 }: ClaimRow): AccountClaim {
  return { identityId: id, directoryObjectId: claimed ?? held ?? '', sinceMs, isHolder: claimed === undefined }
}

/** Two queries, because each uses its own index; one query with OR would use neither. */
async function claimsTo(container: Container, tenantId: string, accounts: readonly string[]): Promise<AccountClaim[]> {
  if (accounts.length === 0) return []
  const found = await Promise.all(
    ['c.attributes.directoryObjectId', 'c.claimedAccount'].map((property) =>
      queryAll<ClaimRow>(
        container,
        tenantId,
        {
          query: `SELECT ${CLAIM} FROM c WHERE ARRAY_CONTAINS(@accounts, ${property}) AND c.objectType = 'identity'
            AND c.deleted = false`,
          parameters: [{ name: '@accounts', value: [...accounts] }],
        },
        { maxItemCount: DOCUMENTS_PER_RESPONSE_COUNT },
      ),
    ),
  )
  return found.flat().map(accountClaim)
}

function documentWrite(
  tenantId: string,
  { object, version }: CoreObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  const { objectType, attributes, deleted } = object
  const byState = deleted ? { ttl: softDeletionDays * DAY_S } : { search: searchTexts(objectType, attributes) }
  const document = { ...object, tenantId, ...byState }
  return { document: document as unknown as VersionedWrite['document'], version }
}

/** Reads the soft-deleted documents of the same container. */
export function cosmosDeletedCoreObjects(container: Container): DeletedCoreObjects {
  return {
    async ofIds(tenantId, ids) {
      if (ids.length === 0) return []
      // A replica that lags would have the object still live, or not yet merged into another one.
      await catchUp(container, tenantId)
      const query = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id) AND c.deleted = true'
      const parameters = [{ name: '@ids', value: [...ids] }]
      const found = await queryAll<CoreObjectDocument>(container, tenantId, { query, parameters })
      return found.map((document) => {
        const { mergedInto } = parse(document)
        const { ttl, _ts: writtenAtS } = document
        return {
          ...coreObject(document),
          ...(mergedInto !== undefined && { mergedInto }),
          ...(ttl !== undefined && { expiresAtMs: (writtenAtS + ttl) * 1000 }),
        }
      })
    },
  }
}

type Searchable = {
  /** Properties compared exactly. */
  readonly exact: readonly string[]
  /** Properties compared in lower case, the only form in which they are stored. */
  readonly ids: readonly string[]
  /** Attributes searched for a substring, without case. */
  readonly substring: readonly string[]
  /** The attribute that determines the order of matches. */
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
 * The search properties of a live object's document, so that one index serves both the substring match and the order.
 * They are grouped by object type so that a search for identities does not scan the titles of relationships.
 */
type SearchTexts = { readonly [type in ObjectType]?: { readonly text: string; readonly name: string } }

/** Sorts after every name. */
const NAMELESS = '\u{10ffff}'

/**
 * The stored name by which the database orders matches: without case and marks, so that its order by code point is close to
 * that of `compareNames`, by which the matches that it returns are ordered.
 */
const orderedName = (name: unknown): string =>
  name === undefined ? NAMELESS : folded(String(name)).normalize('NFD').replaceAll(/\p{M}/gu, '')

/** Returns the search properties that are written with each live object. */
function searchTexts(objectType: ObjectType, attributes: Readonly<Record<string, unknown>>): SearchTexts {
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
async function searchDocuments(container: Container, tenantId: string, search: Search): Promise<CoreObject[]> {
  const { objectType, text, among, limit } = search
  if (among?.count === 0) return []
  const { exact, ids, name } = SEARCHABLE[objectType]
  const wanted = [
    { condition: `CONTAINS(${searchProperty(objectType)}.text, @text)`, text: folded(text) },
    ...exact.map((property) => ({ condition: `c.${property} = @text`, text })),
    ...(isGuid(text) ? ids.map((property) => ({ condition: `c.${property} = @text`, text: text.toLowerCase() })) : []),
  ]
  const matches = among !== undefined && among.count > IDS_PER_QUERY_COUNT ? matchesInLargeScope : firstMatches
  // One query per condition: each uses its own index, and conditions combined with OR would use none.
  const found = await Promise.all(wanted.map((each) => matches(container, tenantId, { ...search, ...each })))
  const byId = new Map(found.flat().map((document) => [document.id, coreObject(document)]))
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
const byNameThenId = (name: string) => (one: CoreObject, other: CoreObject) => {
  const [first, second] = [one.attributes[name], other.attributes[name]]
  if ((first === undefined) !== (second === undefined)) return first === undefined ? 1 : -1
  return compareNames(String(first), String(second)) || (one.id < other.id ? -1 : 1)
}
