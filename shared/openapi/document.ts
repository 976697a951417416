import { httpStatusOf } from '../http/envelope.ts'
import type { Route, RouteGroup } from '../http/route.ts'
import { REFUSALS_BEFORE_ROUTING } from '../http/route.ts'
import type { Task } from '../kernel/cooperative-scheduler.ts'
import type { JsonObject } from '../kernel/json.ts'
import { REFUSALS, type RefusalCode } from '../kernel/refusal-register.ts'
import { BEARER_SCHEME } from './bearer-scheme.ts'
import { parametersOf, SHARED_HEADERS, SHARED_PARAMETERS } from './parameters.ts'
import { withPortablePatterns } from './portable-patterns.ts'
import { type FileOperation, fileOperation, PROBES_TAG, probePaths } from './public-operations.ts'
import { FAILURE_SCHEMA, operationResponses, refusalEnvelopeOf, refusalExamples, sharedResponses } from './responses.ts'
import {
  type DetailedSchemas,
  type DocumentSchemas,
  documentSchemas,
  type Examples,
  type NamedSchemas,
  type OperationExamples,
  operationExamples,
} from './schemas.ts'
import { type EventDescription, webhooksOf } from './webhooks.ts'

/** A group of operations. */
export type Tag = { readonly name: string; readonly description: string }

export type ApiDescription = {
  readonly title: string
  readonly version: string
  readonly groups: readonly RouteGroup[]
  /** The tag of each group, by prefix. */
  readonly tags: Readonly<Record<string, Tag>>
  readonly schemas: NamedSchemas
  readonly detailedSchemas: DetailedSchemas
  readonly examples: Examples
  /** What the service posts to subscribers. */
  readonly events: readonly EventDescription[]
  /** Files that are served without a token. */
  readonly files: readonly FileOperation[]
}

const ABOUT = `Defines collections of people, positions and org units, and keeps directory groups in sync with them.

## Requests

- Authenticate with \`Authorization: Bearer <access token>\`. Each operation lists its roles; a caller needs one of them.
  The token of a user needs the scope of this service; ID tokens are refused.
- The requests of a caller, and those of a tenant, to one instance per minute are limited: 429 \`TooManyRequests\` with \`Retry-After\`. An operator can restrict
  the service to certain tenants: others get \`TenantNotAllowed\`.
- A request body must be sent with \`Content-Length\`. One with \`Transfer-Encoding: chunked\` has no effect and is refused
  with \`LengthRequired\`. The \`HttpClient\` of .NET sends \`JsonContent\` chunked: call \`LoadIntoBufferAsync()\` on the
  content first.
- Unknown members of a request body, and unknown query parameters, are ignored, so that whole records can be sent back.
  One that differs from a known name only in case, or by at most two characters (one when the known name has fewer than
  six), is refused with \`UnknownMember\` or \`UnknownParameter\`. Keys of metadata and custom attributes are free.
- If a member occurs twice, the last value applies. \`null\` means left out for every optional member, so in an update it keeps the
  value, except where the operation says that \`null\` removes it. An empty string clears a description.
- A body has at most 1 MiB, that of a batch of connector objects 4 MiB: 413 \`BodyTooLarge\`.
- A query parameter that is not a list must not be repeated.
- Strings must be valid Unicode. An unpaired surrogate is refused with \`InvalidJson\`, or with \`InvalidValue\` for the
  item of a batch.
- GUIDs are accepted in any case and returned in lower case.
- \`HEAD\` is supported wherever \`GET\` is. A trailing slash in the path is ignored.
- Reserved path segments are never treated as ids: \`GET .../multiple\` is refused with \`MethodNotAllowed\`.

## Responses

- Every response of an operation is an envelope: \`data\` on success, \`errors\` on failure. Error codes are stable; messages can change.
- The errors in the parameters and in the form of the body (the schema of the operation) are returned together, those of
  the meaning (for example attributes, ids and times) after these are corrected. A body that cannot be read, for example
  with \`InvalidJson\`, is refused first and alone. Each value has one error, each body or batch item at most 50. A list
  that is too long is reported once; its items are not validated.
- Every response has an \`x-request-id\`, \`X-Content-Type-Options: nosniff\` and \`Cache-Control: no-store\`. Pages and
  their files have \`no-cache\` and an \`ETag\`; \`/\` leads to the console, where there is one.
- An unknown path is refused with \`RouteNotFound\`. A method that the path does not support, \`OPTIONS\` included, is
  refused with \`MethodNotAllowed\` and an \`Allow\` header. Both checks precede authentication.
- A record of another tenant does not exist for the caller: 404, never 403.
- A write is refused only after everything that was written before it is taken into account; a quota that is used up is
  counted again after a second. A single record is found as soon as it is created, and a collection is in the lists of
  collections as soon. Other lists, searches, and what a manager may see of core objects, can lack what was written
  within the last seconds.`

/** Returned where no path matches, and therefore by no operation. */
const WITHOUT_OPERATION: readonly RefusalCode[] = ['RouteNotFound']

const FILES_TAG: Tag = { name: 'Description', description: 'The description of this API. No token is required.' }

const EVENTS_TAG: Tag = { name: 'Events', description: 'What the service posts to event subscriptions.' }

/** Builds the document in steps: to build it at once would hold up the requests of others. */
export function* apiDocument(api: ApiDescription): Task<JsonObject> {
  const schemas = documentSchemas(api.schemas, api.detailedSchemas)
  const tags = [...api.groups.map(({ prefix }) => tagOf(api, prefix)), FILES_TAG, PROBES_TAG, EVENTS_TAG]
  const paths = { ...(yield* pathsOf(api, schemas)), ...probePaths() }
  const webhooks = webhooksOf(api.events, EVENTS_TAG.name, schemas)
  yield
  const components = { ...schemas.components(), Failure: FAILURE_SCHEMA }
  yield
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
    paths,
    webhooks: withPortablePatterns(webhooks),
    components: {
      schemas: withPortablePatterns(components),
      responses: sharedResponses(),
      parameters: SHARED_PARAMETERS,
      headers: SHARED_HEADERS,
      examples: refusalExamples(WITHOUT_OPERATION),
      securitySchemes: {
        [BEARER_SCHEME]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A directory access token for this service, of version 1.0 or 2.0.',
        },
      },
    },
    'x-refused-before-routes': Object.fromEntries(REFUSALS_BEFORE_ROUTING.map(refusalBeforeRouting)),
  }
}

function refusalBeforeRouting(code: RefusalCode): [string, JsonObject] {
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

function* pathsOf(api: ApiDescription, schemas: DocumentSchemas): Task<JsonObject> {
  const examples = operationExamples(api.examples, schemas)
  const paths: Record<string, JsonObject> = {}
  for (const { prefix, routes } of api.groups) {
    for (const route of routes) {
      const path = `/${prefix}${route.path === '/' ? '' : route.path}`
      yield
      const described = withPortablePatterns(operation(route, tagOf(api, prefix).name, schemas, examples))
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: described }
    }
  }
  for (const file of api.files) paths[file.path] = fileOperation(file, FILES_TAG.name)
  return paths
}

function operation(route: Route, tag: string, schemas: DocumentSchemas, examples: OperationExamples): JsonObject {
  const { operationId, summary, description, roles, body, deprecated } = route
  const required =
    roles === 'any'
      ? 'Requires a valid token and no role.'
      : `Requires one of the roles ${roles.map((role) => `\`${role}\``).join(', ')}.`
  return {
    operationId,
    summary,
    description: description === undefined ? required : `${description}\n\n${required}`,
    tags: [tag],
    ...(deprecated === true ? { deprecated } : {}),
    security: roles === 'any' ? [{ [BEARER_SCHEME]: [] }] : roles.map((role) => ({ [BEARER_SCHEME]: [role] })),
    parameters: parametersOf(route, schemas),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemas.describe(body), example: examples.requestOf(route) } },
          },
        }),
    responses: operationResponses(route, schemas, examples),
  }
}
