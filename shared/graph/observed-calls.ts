import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Metrics } from '../kernel/metrics.ts'
import { inSpan } from '../kernel/tracing.ts'
import type { GraphCall, GraphReply, SendCall } from './graph-calls.ts'

const THROTTLED_STATUS = 429
/** The status of a call that got no response. */
const NO_RESPONSE = 0

/** Records a span for each call, and counts the calls that the directory throttles. */
export function observedCalls(send: SendCall, metrics: Metrics): SendCall {
  return (tenantId, call) => {
    const items = batchItems(call)
    const attributes = {
      'http.request.method': call.method,
      'tenant.id': tenantId,
      ...(items === undefined
        ? {}
        : { 'graph.batch.item_count': items.length, 'graph.batch.item_operation': operationNames(items) }),
    }
    return inSpan(operationName(call), { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const reply = await send(tenantId, call)
      const throttled = reply.status === THROTTLED_STATUS ? [call] : throttledItems(items ?? [], reply)
      for (const call of throttled) metrics.record('directory.throttled', 1, { operation: operationName(call) })
      if (throttled.length > 0) span.setAttribute('graph.throttled_count', throttled.length)
      span.setAttribute('http.response.status_code', reply.status)
      if (reply.status === NO_RESPONSE || reply.status >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
      return reply
    })
  }
}

type Called = Pick<GraphCall, 'method' | 'path'>

/** `GET /groups/{id}/members`: without ids, addresses and query, so that the number of distinct names is small. */
function operationName({ method, path }: Called): string {
  const [withoutQuery = ''] = path.split('?')
  return `${method} ${withoutQuery.replace(/\/(?:[0-9a-f]{8}-[0-9a-f-]{27}|[^/]+%40[^/]+)(?=\/|$)/gi, '/{id}')}`
}

function operationNames(calls: readonly Called[]): string {
  return [...new Set(calls.map(operationName))].join(', ')
}

function batchItems({ path, body }: GraphCall): Called[] | undefined {
  if (path !== '/$batch') return undefined
  const { requests } = body as { requests: { method: GraphCall['method']; url: string }[] }
  return requests.map(({ method, url }) => ({ method, path: url }))
}

/** The id of an item is its index in the batch. */
function throttledItems(items: readonly Called[], { body }: GraphReply): Called[] {
  const { responses } = (body ?? {}) as { responses?: { id?: unknown; status?: unknown }[] }
  if (!Array.isArray(responses)) return []
  return responses.flatMap(({ id, status }) => (status === THROTTLED_STATUS ? (items[Number(id)] ?? []) : []))
}
