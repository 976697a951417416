import { httpStatusOf } from '../http/envelope.ts'
import type { Route, RouteGroup } from '../http/route.ts'
import { REFUSALS_BEFORE_ROUTING } from '../http/route.ts'
import { REFUSALS, type RefusalCode } from '../kernel/refusals.ts'
import { parametersOf, SHARED_HEADERS, SHARED_PARAMETERS } from './parameters.ts'
import { type FileOperation, fileOperation, PROBES_TAG, probePaths } from './public-operations.ts'
import { FAILURE_SCHEMA, operationResponses, refusalEnvelopeOf, refusalExamples, sharedResponses } from './responses.ts'
import {
  type DetailedSchemas,
  type DocumentSchemas,
  documentSchemas,
  type Examples,
  type JsonObject,
  type NamedSchemas,
  type OperationExamples,
  operationExamples,
} from './schemas.ts'

/** What operations are grouped under. */
export type Tag = { readonly name: string; readonly description: string }

export type ApiDescription = {
  readonly title: string
  readonly version: string
  readonly groups: readonly RouteGroup[]
  /** What the groups are called, by prefix. */
  readonly tags: Readonly<Record<string, Tag>>
  readonly schemas: NamedSchemas
  readonly detailedSchemas: DetailedSchemas
  readonly examples: Examples
  /** What anyone may read, without a token. */
  readonly files: readonly FileOperation[]
}

const ABOUT = `Collections of people, positions and org units, kept equal with groups of the directory.

Every answer is an envelope: \`data\` on success, \`errors\` with stable codes on failure. Every answer has an
\`x-request-id\`. Unknown members of a body are ignored; of a member given twice, the last counts. A parameter given twice
where one is due is refused. All that is wrong with the input is told at once, a wrong value once; a list longer than
allowed is refused as a whole, and of one connector object at most fifty faults are told. A text with half a surrogate
pair is refused: \`InvalidJson\`, or \`InvalidValue\` for the item of a batch.

\`HEAD\` is answered as \`GET\` is, without the body. A trailing slash does not matter. A path that does not exist is refused
with \`RouteNotFound\`, a method that a path does not take, \`OPTIONS\` among them, with \`MethodNotAllowed\` and an \`Allow\`
header: both before the token is looked at. A word of the API is no id: \`GET .../multiple\` is such a method. The
security requirements name the roles of which a caller needs one.`

/** Answered where there is no path, and so by no operation. */
const ANSWERED_BY_NO_OPERATION: readonly RefusalCode[] = ['RouteNotFound']

const FILES_TAG: Tag = { name: 'Description', description: 'This description of the API, open to anyone.' }

/** The OpenAPI 3.1 document of the API, made from its route tables. */
export function apiDocument(api: ApiDescription): JsonObject {
  const describer = documentSchemas(api.schemas, api.detailedSchemas)
  const tags = [...api.groups.map(({ prefix }) => tagOf(api, prefix)), FILES_TAG, PROBES_TAG]
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: ABOUT,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/' }],
    tags: [...new Map(tags.map((tag) => [tag.name, tag])).values()],
    paths: { ...pathsOf(api, describer), ...probePaths() },
    components: {
      schemas: { ...describer.components(), Failure: FAILURE_SCHEMA },
      responses: sharedResponses(),
      parameters: SHARED_PARAMETERS,
      headers: SHARED_HEADERS,
      examples: refusalExamples(ANSWERED_BY_NO_OPERATION),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the directory for this service, of version 1.0 or 2.0.',
        },
      },
    },
    'x-refused-before-routes': Object.fromEntries(REFUSALS_BEFORE_ROUTING.map(describedRefusal)),
  }
}

function describedRefusal(code: RefusalCode): [string, JsonObject] {
  return [
    code,
    { status: httpStatusOf({ code }), description: REFUSALS[code].message, example: refusalEnvelopeOf(code) },
  ]
}

function tagOf({ tags }: ApiDescription, prefix: string): Tag {
  const tag = tags[prefix]
  if (tag === undefined) throw new Error(`The group ${prefix} has no tag`)
  return tag
}

function pathsOf(api: ApiDescription, describer: DocumentSchemas): JsonObject {
  const find = operationExamples(api.examples, describer)
  const paths: Record<string, JsonObject> = {}
  for (const { prefix, routes } of api.groups) {
    for (const route of routes) {
      const path = `/${prefix}${route.path === '/' ? '' : route.path}`
      const described = operation(route, tagOf(api, prefix).name, describer, find)
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: described }
    }
  }
  for (const file of api.files) paths[file.path] = fileOperation(file, FILES_TAG.name)
  return paths
}

function operation(route: Route, tag: string, describer: DocumentSchemas, find: OperationExamples): JsonObject {
  const { operationId, summary, description, roles, body, deprecated } = route
  const audience = `For callers with one of the roles ${roles.map((role) => `\`${role}\``).join(', ')}.`
  return {
    operationId,
    summary,
    description: description === undefined ? audience : `${description}\n\n${audience}`,
    tags: [tag],
    ...(deprecated === true ? { deprecated } : {}),
    security: roles.map((role) => ({ bearer: [role] })),
    parameters: parametersOf(route, describer),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: describer.describe(body), example: find.bodyOf(route) } },
          },
        }),
    responses: operationResponses(route, describer, find),
  }
}
