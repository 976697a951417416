import type { KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '../../../shared/kernel/json.ts'
import { isIndexed } from './index-policy.ts'
import { isJsonObject, parseObject, refuseUnknownMembers } from './json-values.ts'
import type { Scan } from './query/access.ts'
import { decodeToken, encodeToken } from './query/continuation.ts'
import type { Parameters } from './query/evaluator.ts'
import { runQuery } from './query/execute.ts'
import { parseQuery } from './query/parser.ts'
import type { Query } from './query/syntax.ts'
import type { Answer } from './response.ts'
import { badRequest, queryCharge } from './response.ts'

/** The answer to every request for a query plan: there is one range, and it is asked directly. */
export const QUERY_PLAN = {
  partitionedQueryExecutionInfoVersion: 2,
  queryInfo: {
    distinctType: 'None',
    orderBy: [],
    orderByExpressions: [],
    groupByExpressions: [],
    groupByAliases: [],
    aggregates: [],
    groupByAliasToAggregateType: {},
    rewrittenQuery: '',
    hasSelectValue: false,
  },
  queryRanges: [{ min: '', max: 'FF', isMinInclusive: true, isMaxInclusive: false }],
}

const BODY_MEMBERS = new Set(['query', 'parameters'])
const PARAMETER_MEMBERS = new Set(['name', 'value'])
const DEFAULT_PAGE_ROWS_COUNT = 1000
/** Cosmos DB limits the text. Parameters are counted too, as they would be in the text. https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const QUERY_LIMIT_BYTES = 512 * 1024
const PARSED_KEPT_COUNT = 200

const parsed = new Map<string, Query>()

/** Returns a page of a query. @throws CosmosFailure 400 that names the unsupported part */
export function answerQuery(
  place: Omit<Scan, 'terms'>,
  { key, isStrict }: { readonly key: KeyObject; readonly isStrict: boolean },
  headers: IncomingHttpHeaders,
  body: string,
): Answer {
  if (Buffer.byteLength(body) > QUERY_LIMIT_BYTES) {
    throw badRequest(`The query with its parameters is longer than ${QUERY_LIMIT_BYTES} bytes`)
  }
  const request = parseObject(body, 'The query')
  refuseUnknownMembers(request, BODY_MEMBERS, 'The query')
  if (typeof request.query !== 'string') throw badRequest('The request requires a string: query')
  const query = parsedQuery(request.query)
  refuseOrderWithoutIndex(query, place.container)
  if (isStrict && place.partition === undefined) refuseAcrossPartitions(query)
  const parameters = parametersOf(request.parameters)
  const scope = { key, scope: [place.container.number, place.partition ?? null, request.query, [...parameters]] }
  const token = headers['x-ms-continuation']
  const after = token === undefined ? undefined : decodeToken(String(token), scope)
  const page = runQuery(query, place, parameters, { rowCount: pageRowCount(headers), after })
  return {
    status: 200,
    body: `{"_rid":"${place.container.rid}","Documents":[${page.results.join(',')}],"_count":${page.results.length}}`,
    headers: {
      'x-ms-item-count': page.results.length,
      'x-ms-request-charge': queryCharge(page.chargedCount ?? page.lookedAtCount),
      ...(page.end === undefined ? {} : { 'x-ms-continuation': encodeToken(page.end, scope) }),
    },
  }
}

function parsedQuery(text: string): Query {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const query = parseQuery(text)
  if (parsed.size >= PARSED_KEPT_COUNT) parsed.clear()
  parsed.set(text, query)
  return query
}

function refuseOrderWithoutIndex({ order }: Query, { resource }: Scan['container']): void {
  if (order === undefined || isIndexed(resource.indexingPolicy, order.path)) return
  throw badRequest(`The index path corresponding to the specified order-by item is excluded: /${order.path.join('/')}`)
}

/** In Azure, the client merges the results of several partition ranges. The single local range would hide errors. */
function refuseAcrossPartitions({ order, top, offset, select }: Query): void {
  const clause = order ? 'ORDER BY' : top ? 'TOP' : offset ? 'OFFSET' : select.kind === 'count' ? 'COUNT' : undefined
  if (clause !== undefined) throw badRequest(`${clause} without a partition key is not supported in strict mode`)
}

function parametersOf(parameters: Json | undefined): Parameters {
  if (parameters === undefined) return new Map()
  if (!Array.isArray(parameters)) throw badRequest('The parameters of a query must be a list')
  return new Map(
    parameters.map((parameter) => {
      if (!isJsonObject(parameter)) throw badRequest('A parameter must be { name, value }')
      refuseUnknownMembers(parameter, PARAMETER_MEMBERS, 'A parameter')
      const { name, value } = parameter
      if (typeof name !== 'string' || !/^@\w+$/.test(name)) throw badRequest(`Not a parameter: ${String(name)}`)
      if (value === undefined) throw badRequest(`The parameter ${name} has no value`)
      return [name, value]
    }),
  )
}

function pageRowCount(headers: IncomingHttpHeaders): number {
  const rowCount = Number(headers['x-ms-max-item-count'] ?? -1)
  if (rowCount === -1) return DEFAULT_PAGE_ROWS_COUNT
  if (!Number.isInteger(rowCount) || rowCount < 1)
    throw badRequest('x-ms-max-item-count must be -1 or a positive integer')
  return rowCount
}
