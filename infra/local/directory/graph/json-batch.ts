import { badRequest, type GraphAnswer, type GraphRequest } from './exchange.ts'
import { objectBody } from './properties.ts'

/** https://learn.microsoft.com/graph/json-batching */
const LARGEST_BATCH_COUNT = 20

export type BatchItem = { readonly id: string; readonly request: GraphRequest }

/** @throws GraphRefusal 400 for an invalid batch */
export function batchItems(body: unknown): BatchItem[] {
  const { requests } = objectBody(body)
  if (!Array.isArray(requests)) throw badRequest('Invalid batch payload format.', 'BadRequest')
  if (requests.length > LARGEST_BATCH_COUNT) {
    const message = `Number of batch request steps exceeds the maximum value of ${LARGEST_BATCH_COUNT}`
    throw badRequest(message, 'MaximumValueExceeded')
  }
  const items = requests.map(batchItem)
  const [repeated] = items.filter(({ id }, index) => items.findIndex((item) => item.id === id) < index)
  if (repeated !== undefined) throw badRequest(`Request id ${repeated.id} is not unique in the batch.`, 'BadRequest')
  return items
}

function batchItem(entry: unknown): BatchItem {
  const { id, method, url, headers, body, dependsOn } = objectBody(entry)
  if (typeof id !== 'string' || id === '') throw badRequest('A batch request has no id.', 'BadRequest')
  if (typeof method !== 'string') throw badRequest(`Request id ${id} has no method.`, 'BadRequest')
  if (typeof url !== 'string' || !url.startsWith('/'))
    throw badRequest(`Request id ${id} has no relative url.`, 'BadRequest')
  if (dependsOn !== undefined) throw badRequest(`Request id ${id} has dependsOn, which is not supported here.`)
  const names = Object.keys(headers ?? {}).map((name) => name.toLowerCase())
  if (body !== undefined && body !== null && !names.includes('content-type')) {
    throw badRequest(`Write request id : ${id} does not contain Content-Type header or body.`, 'BadRequest')
  }
  const [path = '', query = ''] = url.split('?', 2)
  const request = { method: method.toUpperCase(), path: `/v1.0${path}`, query: new URLSearchParams(query), body }
  return { id, request }
}

/** The response of a batch item. A body that is not JSON is encoded in base64. */
export function batchedAnswer(id: string, { status, headers, body }: GraphAnswer) {
  const named = Object.entries(headers).map(([name, value]) => [capitalizedHeader(name), value])
  return {
    id,
    status,
    headers: { 'Cache-Control': 'no-cache', 'Content-Type': 'application/json', ...Object.fromEntries(named) },
    body: typeof body === 'string' ? Buffer.from(body).toString('base64') : (body ?? null),
  }
}

const capitalizedHeader = (name: string): string =>
  name.startsWith('x-')
    ? name
    : name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase())

/** Returns the responses in another order: Graph does not guarantee the order. */
export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ item }) => item)
}
