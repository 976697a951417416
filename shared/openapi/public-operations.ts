import { type HttpResponse, refusalEnvelope, unreadyEnvelope } from '../http/envelope.ts'
import { ALIVE, PARTS, READY } from '../http/probes.ts'
import { Refusal } from '../kernel/refusals.ts'
import { headerReferences, parameterReference } from './parameters.ts'
import { failureSchema, sharedResponseReference, successSchema } from './responses.ts'
import type { JsonObject } from './schemas.ts'

export type FileOperation = {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly contentType: string
  readonly schema: JsonObject
}

/** What every file has that anyone may read: no role, a tag to ask again with, one method. */
export function fileOperation({ operationId, summary, contentType, schema }: FileOperation, tag: string): JsonObject {
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

/** What operations for whoever runs the service are grouped under. */
export const PROBES_TAG = { name: 'Operation', description: 'For whoever runs the service: open to anyone.' } as const

const NOT_READY = unreadyEnvelope(['queue'])
const NOT_ALLOWED = refusalEnvelope(new Refusal('MethodNotAllowed'))

/** The paths of the probes, which are no routes: they know neither callers nor roles. */
export function probePaths(): JsonObject {
  return {
    '/health': {
      get: probe('getHealth', 'Whether the process answers', {
        200: response('It answers.', successSchema(dataOf({ status: { const: 'alive' } }), 200), ALIVE),
      }),
    },
    '/ready': {
      get: probe('getReadiness', 'Whether database, queue and the keys of the directory can be used', {
        200: response(
          'All can be used. What was found is told again for five seconds.',
          successSchema(dataOf(Object.fromEntries(PARTS.map((part) => [part, { const: 'ready' }]))), 200),
          READY,
        ),
        503: response('`NotReady` for each part that cannot be used.', UNREADY_SCHEMA, NOT_READY),
      }),
    },
  }
}

function probe(operationId: string, summary: string, responses: JsonObject): JsonObject {
  return {
    operationId,
    summary,
    tags: [PROBES_TAG.name],
    security: [],
    parameters: [{ $ref: '#/components/parameters/RequestId' }],
    responses: {
      ...responses,
      405: response('`MethodNotAllowed`', { $ref: '#/components/schemas/Failure' }, NOT_ALLOWED),
    },
  }
}

function response(description: string, schema: JsonObject, { body }: HttpResponse): JsonObject {
  return {
    description,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: { 'application/json': { schema, example: JSON.parse(body ?? 'null') } },
  }
}

function dataOf(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties, additionalProperties: false }
}

const UNREADY_SCHEMA = failureSchema(
  { const: 503 },
  {
    required: ['code', 'message', 'target'],
    properties: {
      code: { const: 'NotReady' },
      message: { type: 'string' },
      target: { type: 'string', enum: PARTS, description: 'The part that cannot be used.' },
    },
  },
)
