import { type HttpResponse, refusalEnvelope } from '../http/envelope.ts'
import { ALIVE, PARTS, READY, unreadyEnvelope } from '../http/probes.ts'
import type { JsonObject } from '../kernel/json.ts'
import { Refusal } from '../kernel/refusals.ts'
import { headerReferences, parameterReference } from './parameters.ts'
import { bodyOf, failureSchema, NOT_MODIFIED, sharedResponseReference, successSchema } from './responses.ts'

/** An operation that serves a file. */
export type FileOperation = {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly contentType: string
  readonly schema: JsonObject
}

/** The path item of a file: no token, an `ETag`, GET only. */
export function fileOperation(
  { operationId, summary, description, contentType, schema }: FileOperation,
  tag: string,
): JsonObject {
  const headers = headerReferences({ 'x-request-id': 'RequestId', etag: 'ETag' })
  return {
    get: {
      operationId,
      summary,
      description,
      tags: [tag],
      security: [],
      parameters: [parameterReference('IfNoneMatch'), parameterReference('RequestId')],
      responses: {
        200: { description: 'The file.', headers, content: { [contentType]: { schema } } },
        304: { description: NOT_MODIFIED, headers },
        405: sharedResponseReference('MethodNotAllowed'),
        500: sharedResponseReference('Fault'),
      },
    },
  }
}

/** The tag of the probes. */
export const PROBES_TAG = {
  name: 'Operation',
  description: 'Health checks for operators. No token is required.',
} as const

const NOT_READY = unreadyEnvelope(['queue'])
const NOT_ALLOWED = refusalEnvelope(new Refusal('MethodNotAllowed'))

/** The paths of the probes. They have no token and no roles, so they are not routes. */
export function probePaths(): JsonObject {
  return {
    '/health': {
      get: probe('getHealth', 'Get health', 'Reports whether the process responds. Checks no dependencies.', {
        200: response('The process responds.', successSchema(dataOf({ status: { const: 'alive' } }), 200), ALIVE),
      }),
    },
    '/ready': {
      get: probe(
        'getReadiness',
        'Get readiness',
        "Reports whether the database, the message queue and the directory's token signing keys are available. " +
          'The outcome is cached for five seconds.',
        {
          200: response(
            'All dependencies are available.',
            successSchema(dataOf(Object.fromEntries(PARTS.map((part) => [part, { const: 'ready' }]))), 200),
            READY,
          ),
          503: response('An error `NotReady` for each unavailable dependency.', UNREADY_SCHEMA, NOT_READY),
        },
      ),
    },
  }
}

function probe(operationId: string, summary: string, description: string, responses: JsonObject): JsonObject {
  return {
    operationId,
    summary,
    description,
    tags: [PROBES_TAG.name],
    security: [],
    parameters: [parameterReference('RequestId')],
    responses: {
      ...responses,
      405: response('`MethodNotAllowed`', { $ref: '#/components/schemas/Failure' }, NOT_ALLOWED),
    },
  }
}

function response(description: string, schema: JsonObject, example: HttpResponse): JsonObject {
  return {
    description,
    headers: headerReferences({ 'x-request-id': 'RequestId' }),
    content: { 'application/json': { schema, example: bodyOf(example) } },
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
      target: { type: 'string', enum: PARTS, description: 'The unavailable dependency.' },
    },
  },
)
