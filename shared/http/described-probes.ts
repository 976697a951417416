import { Refusal } from '../domain/refusal.ts'
import type { JsonObject } from './described-schema.ts'
import { type HttpAnswer, refusalEnvelope, successEnvelope, unreadyEnvelope } from './envelope.ts'

/** What operations for whoever runs the service are grouped under. */
export const PROBES_TAG = { name: 'Operation', description: 'For whoever runs the service: open to anyone.' } as const

const ALIVE = successEnvelope({ data: { status: 'alive' } }, 200)
const READY = successEnvelope({ data: { database: 'ready', queue: 'ready', directoryKeys: 'ready' } }, 200)
const NOT_READY = unreadyEnvelope(['queue'])
const NOT_ALLOWED = refusalEnvelope(new Refusal('MethodNotAllowed'))

const PARTS = ['database', 'queue', 'directoryKeys']

/** The paths of the probes, which are no routes: they know neither callers nor roles. */
export function probePaths(): JsonObject {
  return {
    '/health': {
      get: probe('getHealth', 'Whether the process answers', {
        200: response('It answers.', successSchema({ status: { const: 'alive' } }), ALIVE),
      }),
    },
    '/ready': {
      get: probe('getReadiness', 'Whether database, queue and the keys of the directory can be used', {
        200: response(
          'All can be used. What was found is told again for five seconds.',
          successSchema(Object.fromEntries(PARTS.map((part) => [part, { const: 'ready' }]))),
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

function response(description: string, schema: JsonObject, { body }: HttpAnswer): JsonObject {
  return {
    description,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: { 'application/json': { schema, example: JSON.parse(body ?? 'null') } },
  }
}

function successSchema(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return {
    type: 'object',
    required: ['data', 'isSuccess', 'statusCode', 'errors'],
    properties: {
      data: { type: 'object', required: Object.keys(properties), properties, additionalProperties: false },
      isSuccess: { const: true },
      statusCode: { const: 200 },
      errors: { type: 'array', maxItems: 0 },
    },
    additionalProperties: false,
  }
}

const UNREADY_SCHEMA: JsonObject = {
  type: 'object',
  required: ['data', 'isSuccess', 'statusCode', 'errors', 'error'],
  properties: {
    data: { type: 'null' },
    isSuccess: { const: false },
    statusCode: { const: 503 },
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['code', 'message', 'target'],
        properties: {
          code: { const: 'NotReady' },
          message: { type: 'string' },
          target: { type: 'string', enum: PARTS, description: 'The part that cannot be used.' },
        },
        additionalProperties: false,
      },
    },
    error: { type: 'string', description: 'The first message.' },
  },
  additionalProperties: false,
}
