import { headerReferences, parameterReference } from './parameters.ts'
import { sharedResponseReference } from './responses.ts'
import type { JsonObject } from './schemas.ts'

export type DescribedFile = {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly contentType: string
  readonly schema: JsonObject
}

/** What every file has that anyone may read: no role, a tag to ask again with, one method. */
export function describedFile({ operationId, summary, contentType, schema }: DescribedFile, tag: string): JsonObject {
  const headers = headerReferences({ 'x-request-id': 'RequestId', etag: 'ETag' })
  return {
    get: {
      operationId,
      summary,
      tags: [tag],
      security: [],
      parameters: [parameterReference('IfNoneMatch'), parameterReference('RequestId')],
      responses: {
        200: { description: summary, headers, content: { [contentType]: { schema } } },
        304: { description: 'The version that `If-None-Match` names is the last one.', headers },
        405: sharedResponseReference('MethodNotAllowed'),
        500: sharedResponseReference('Fault'),
      },
    },
  }
}
