import type { DirectoryObject } from '../objects.ts'
import { badRequest, type GraphCall } from './exchange.ts'

/** https://learn.microsoft.com/graph/api/group-list-members */
const USUAL_PAGE_SIZE = 100
const LARGEST_PAGE_SIZE = 999

const SUPPORTED_OPTIONS = ['$select', '$top', '$filter', '$skiptoken', '$deltatoken', '$count']

/** @throws GraphRefusal 400 for an unsupported query option */
export function assertKnownOptions(query: URLSearchParams): void {
  for (const name of query.keys()) {
    if (name.startsWith('$') && !SUPPORTED_OPTIONS.includes(name)) {
      throw badRequest(`The query option '${name}' is not supported here.`, 'Request_UnsupportedQuery')
    }
  }
}

/**
 * Returns a page of a list. `list` returns a number of objects after a key, in ascending order. The link to the next
 * page is absolute on the origin of the request and contains the query. Its token is opaque.
 */
export function page(
  call: GraphCall,
  context: string,
  list: (afterKey: number, count: number) => readonly DirectoryObject[],
  show: (object: DirectoryObject) => unknown,
) {
  const size = pageSize(call.query)
  // Reads one object more than the page size to detect a next page.
  const found = list(afterKey(call), size + 1)
  const objects = found.slice(0, size)
  const last = objects.at(-1)
  const link = found.length > size && last !== undefined ? { '@odata.nextLink': nextLink(call, last.key) } : {}
  return { '@odata.context': `${call.origin}/v1.0/$metadata#${context}`, ...link, value: objects.map(show) }
}

function pageSize(query: URLSearchParams): number {
  const top = query.get('$top')
  if (top === null) return USUAL_PAGE_SIZE
  const size = /^\d{1,9}$/.test(top) ? Number(top) : 0
  if (size >= 1 && size <= LARGEST_PAGE_SIZE) return size
  throw badRequest(
    `Invalid page size specified: '${top}'. Must be between 1 and ${LARGEST_PAGE_SIZE} inclusive.`,
    'Request_UnsupportedQuery',
  )
}

function afterKey(call: GraphCall): number {
  const token = call.query.get('$skiptoken')
  if (token === null) return 0
  const [path, key] = Buffer.from(token, 'base64url').toString().split(' ')
  if (path !== call.path || !/^\d{1,15}$/.test(key ?? '')) throw badRequest('Invalid skip token.', 'BadRequest')
  return Number(key)
}

function nextLink(call: GraphCall, lastKey: number): string {
  const url = new URL(call.path, call.origin)
  const options = [...call.query].filter(([name]) => name !== '$skiptoken')
  options.push(['$skiptoken', Buffer.from(`${call.path} ${lastKey}`).toString('base64url')])
  // URLSearchParams would escape the dollar signs, which Graph does not escape.
  url.search = options.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return url.href
}

/** The ids of a `$filter` that compares only ids, joined by `or`. */
export function filteredIds(query: URLSearchParams): string[] {
  const text = query.get('$filter') ?? ''
  const ids = text.split(/\s+or\s+/).map((clause) => /^\s*id\s+eq\s+'([^']+)'\s*$/.exec(clause)?.[1])
  if (!ids.includes(undefined)) return ids.map((id) => String(id).toLowerCase())
  throw badRequest(`Unsupported or invalid query filter clause: ${text}`, 'Request_UnsupportedQuery')
}

export type Filter = {
  readonly property: 'id' | 'displayName'
  /** The id, or the start of the display name. */
  readonly value: string
}

/** `$filter`. Supports `eq` on the id, and `startswith` on the display name. */
export function filterOf(query: URLSearchParams): Filter | undefined {
  const text = query.get('$filter')
  if (text === null) return undefined
  const [, start] = /^\s*startswith\(\s*displayName\s*,\s*'((?:[^']|'')*)'\s*\)\s*$/.exec(text) ?? []
  if (start !== undefined) return { property: 'displayName', value: start.replaceAll("''", "'") }
  const [id = '', ...others] = filteredIds(query)
  if (others.length === 0) return { property: 'id', value: id }
  throw badRequest(`Unsupported or invalid query filter clause: ${text}`, 'Request_UnsupportedQuery')
}
