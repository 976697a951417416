import type { TSchema } from 'typebox'
import type { Json, JsonObject } from '../kernel/json.ts'
import type { DocumentSchemas } from './schemas.ts'

/** An event that the service posts. */
export type EventDescription = {
  readonly type: string
  readonly meaning: string
  readonly schema: TSchema
  readonly example: unknown
}

const HEADERS: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'The `id` of the event.'],
  ['webhook-timestamp', 'Seconds since 1970 of this attempt. Refuse one that is more than some minutes off.'],
  [
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 in base64 of `webhook-id`, `webhook-timestamp` and the body, joined by dots, with the ' +
      'key of the subscription. After a rotation one for each secret, separated by spaces: one of them must match.',
  ],
]

/** The `webhooks` of the document, by type of event. */
export function webhooksOf(events: readonly EventDescription[], tag: string, schemas: DocumentSchemas): JsonObject {
  return Object.fromEntries(events.map((event) => [event.type, { post: operation(event, tag, schemas) }]))
}

function operation({ type, meaning, schema, example }: EventDescription, tag: string, schemas: DocumentSchemas) {
  const parameters = HEADERS.map(([name, description]): JsonObject => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const content = { schema: schemas.describe(schema), example: JSON.parse(JSON.stringify(example)) as Json }
  return {
    operationId: `on${type.split('.').map(capitalized).join('')}`,
    summary: meaning,
    tags: [tag],
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/cloudevents+json': content } },
    responses: {
      '204': { description: 'Received. Any other 2xx means the same.' },
      '410': { description: 'Disables the subscription. Any other answer is a failure, and the event is sent again.' },
    },
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
