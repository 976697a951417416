import type { Attributes } from '@opentelemetry/api'
import type { LogDetails } from '../kernel/log.ts'

/**
 * The details that spans may carry, with the names that they have there: OpenTelemetry's, where it has one. What is not
 * in this list stays in the log. https://opentelemetry.io/docs/specs/semconv/
 */
const ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  requestId: 'request.id',
  operationId: 'operation.id',
  route: 'http.route',
  method: 'http.request.method',
  status: 'http.response.status_code',
  tenantId: 'tenant.id',
  collectionId: 'collection.id',
  jobId: 'job.id',
  queue: 'messaging.destination.name',
  messageId: 'messaging.message.id',
  deliveryCount: 'messaging.delivery_count',
  itemCount: 'graph.batch.item_count',
  itemOperation: 'graph.batch.item_operation',
  throttledCount: 'graph.throttled_count',
}

/** What of the details is recorded with a span, under the names that OpenTelemetry has for it. */
export function spanAttributes(details: LogDetails): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(details)) {
    const attribute = ATTRIBUTE_NAMES[name]
    if (attribute !== undefined && value !== undefined && value !== null) attributes[attribute] = value
  }
  return attributes
}
