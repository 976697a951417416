import { REFUSALS, type RefusalCode } from '../domain/refusal.ts'
import { PROBES_TAG, probePaths } from './described-probes.ts'
import { describedResponses, FAILURE_SCHEMA, refusalExamples, sharedResponses } from './described-responses.ts'
import { type JsonObject, type NamedSchemas, type SchemaDescriber, schemaDescriber } from './described-schema.ts'
import { statusOf } from './envelope.ts'
import type { Route, RouteGroup } from './route.ts'
import { pathParameters, REFUSED_BEFORE_ROUTES } from './route-refusals.ts'

export type ApiDescription = {
  readonly groups: readonly RouteGroup[]
  /** What the groups are called, by prefix. */
  readonly tags: Readonly<Record<string, string>>
  readonly schemas: NamedSchemas
  readonly version: string
}

const ABOUT = `Collections of people, positions and org units, kept equal with groups of the directory.

Every answer is an envelope: \`data\` on success, \`errors\` with stable codes on failure. Every answer has an
\`x-request-id\`. Unknown members of a body are ignored; of a member given twice, the last counts. \`HEAD\` is answered as
\`GET\` is, without the body. A path that does not exist is refused with \`RouteNotFound\`, a method that a path does not
take, \`OPTIONS\` among them, with \`MethodNotAllowed\` and an \`Allow\` header: both before the token is looked at. The
security requirements name the roles of which a caller needs one.`

/** The OpenAPI 3.1 document of the API, made from its route tables. */
export function apiDocument({ groups, tags, schemas, version }: ApiDescription): JsonObject {
  const describer = schemaDescriber(schemas)
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const { prefix, routes } of groups) {
    for (const route of routes) {
      const path = `/${prefix}${route.path === '/' ? '' : route.path}`
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operation(route, tags[prefix] ?? prefix, describer),
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Collections, Group Link and Core Objects', version, description: ABOUT },
    servers: [{ url: '/' }],
    tags: [...new Set(groups.map(({ prefix }) => tags[prefix] ?? prefix))]
      .map((name): JsonObject => ({ name }))
      .concat(PROBES_TAG),
    paths: { ...paths, ...probePaths() },
    components: {
      schemas: { ...describer.components(), Failure: FAILURE_SCHEMA },
      responses: sharedResponses(),
      parameters: PARAMETERS,
      headers: HEADERS,
      examples: refusalExamples(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the directory for this service, of version 1.0 or 2.0.',
        },
      },
    },
    'x-refused-before-routes': Object.fromEntries(REFUSED_BEFORE_ROUTES.map(describedRefusal)),
  }
}

function describedRefusal(code: RefusalCode): [string, JsonObject] {
  return [code, { status: statusOf({ code }), description: REFUSALS[code].message }]
}

const PARAMETERS: JsonObject = {
  RequestId: {
    name: 'x-request-id',
    in: 'header',
    description: 'Comes back in the answer and stands in the log. One of another form is replaced.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` of the version that is to be changed; 412 if there is a later one.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a version already known: 304 if it is still the last one.',
    schema: { type: 'string' },
  },
}

const HEADERS: JsonObject = {
  RequestId: { description: 'Names the request in the log.', schema: { type: 'string' } },
  ETag: { description: 'Names the version of the record.', schema: { type: 'string' } },
  Location: { description: 'The path of what was made.', schema: { type: 'string' } },
}

function operation(route: Route, tag: string, describer: SchemaDescriber): JsonObject {
  const { operationId, summary, roles, body, deprecated } = route
  return {
    operationId,
    summary,
    tags: [tag],
    ...(deprecated === true ? { deprecated } : {}),
    security: roles.map((role) => ({ bearer: [role] })),
    parameters: parametersOf(route, describer),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: describer.describe(body) } } } }),
    responses: describedResponses(route, describer),
  }
}

function parametersOf({ path, parameters = {}, query, reply, refusals, method }: Route, describer: SchemaDescriber) {
  const guid: JsonObject = { type: 'string', format: 'uuid' }
  const required: readonly string[] = query?.required ?? []
  return [
    ...pathParameters(path).map((name) => {
      const schema = parameters[name]
      return { name, in: 'path', required: true, schema: schema === undefined ? guid : describer.describe(schema) }
    }),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema: describer.describe(schema),
    })),
    ...(refusals.includes('PreconditionFailed') ? [reference('IfMatch')] : []),
    ...(method === 'GET' && reply.versioned === true ? [reference('IfNoneMatch')] : []),
    reference('RequestId'),
  ]
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}
