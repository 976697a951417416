import type { Metrics } from '../kernel/metrics.ts'
import type { Activities } from '../kernel/tracing.ts'
import type { GraphCall, GraphReply, SendCall } from './graph-calls.ts'

const THROTTLED_STATUS = 429

type Observers = { readonly activities: Activities; readonly metrics: Metrics }

/** Wraps calls with a span for each and a metric of throttled calls. */
export function observedCalls(send: SendCall, { activities, metrics }: Observers): SendCall {
  return (tenantId, call) => {
    const items = batchItems(call)
    const details = {
      method: call.method,
      tenantId,
      ...(items === undefined ? {} : { itemCount: items.length, itemOperation: operationNames(items) }),
    }
    return activities.during({ name: operationName(call), kind: 'call', details }, async (activity) => {
      const reply = await send(tenantId, call)
      const throttled = reply.status === THROTTLED_STATUS ? [call] : throttledItems(items ?? [], reply)
      for (const one of throttled) metrics.record('directory.throttled', 1, { operation: operationName(one) })
      activity.describe({ status: reply.status, ...(throttled.length > 0 ? { throttledCount: throttled.length } : {}) })
      return reply
    })
  }
}

type Called = Pick<GraphCall, 'method' | 'path'>

/** `GET /groups/{id}/members`: without ids and query, so that the number of distinct names is small. */
function operationName({ method, path }: Called): string {
  const [withoutQuery = ''] = path.split('?')
  return `${method} ${withoutQuery.replace(/\/[0-9a-f]{8}-[0-9a-f-]{27}(?=\/|$)/gi, '/{id}')}`
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
