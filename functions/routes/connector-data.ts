import { Type } from 'typebox'
import { AttributeTypes } from '../../shared/domain/connectors/attribute-types.ts'
import {
  CONNECTOR_DATA_READERS,
  CONNECTOR_WRITERS,
  createConnectorObject,
  deleteConnectorObject,
  listAttributeTypes,
  listConnectorObjects,
  readConnectorObject,
  replaceConnectorObject,
  writeConnectorBatch,
} from '../../shared/domain/connectors/connector-data.ts'
import { ConnectorObjectDto, ExternalId, ObjectTypeName } from '../../shared/domain/connectors/connector-object.ts'
import { BATCH_OPERATIONS } from '../../shared/domain/connectors/object-input.ts'
import type { ItemOutcome } from '../../shared/domain/connectors/write-decision.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-dependencies.ts'
import { httpStatusOf, type RouteResult } from '../../shared/http/envelope.ts'
import type { OpenCursors } from '../../shared/http/paging.ts'
import { PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { deleted, ok, okVersioned, type Route, route } from '../../shared/http/route.ts'
import { Closed, Described, Guid } from '../../shared/kernel/schema.ts'

export type ConnectorDataDependencies = WriteDependencies & { readonly cursors: OpenCursors }

/** A batch is larger than other bodies, so that an import needs few calls. See `writeConnectorBatch`. */
const BATCH_LIMIT_BYTES = 4 * 1024 * 1024
const BATCH_ITEMS_LIMIT_COUNT = 1000

/** Attributes by name. Validated in code by the object's type. */
export const ObjectDataBody = Type.Record(Type.String(), Type.Unknown())

export const NewObjectBody = Type.Object({ externalId: ExternalId, objectType: ObjectTypeName, data: ObjectDataBody })
export const ReplacementBody = Type.Object({
  externalId: Type.Optional(ExternalId),
  objectType: Type.Optional(ObjectTypeName),
  data: ObjectDataBody,
})

/** Items are validated separately, so the schema of the list does not describe them. */
export const BatchItemBody = Type.Unknown({ title: `An ${BATCH_OPERATIONS.join(' or ')}` })
export const BatchBody = Type.Object({ items: Type.Array(BatchItemBody, { maxItems: BATCH_ITEMS_LIMIT_COUNT }) })

export const BatchItemResult = Closed({
  index: Type.Integer(),
  status: Type.Integer(),
  id: Type.Optional(Guid),
  warnings: Type.Optional(
    Described(
      Type.Array(Closed({ code: Type.Literal('ReferenceUnresolved'), target: Type.String() })),
      'References of the object to objects that do not exist or are deleted, after the whole batch.',
    ),
  ),
  errors: Type.Optional(
    Type.Array(Closed({ code: Type.String(), message: Type.String(), target: Type.Optional(Type.String()) })),
  ),
})

const ATTRIBUTE_LIMITS =
  'An object has at most 100 custom attributes, and the objects of one type at most 200 different ones in a tenant. ' +
  'A name counts from its first use on, also when no object has it any more. An object that would add one more name is ' +
  'refused with `TooManyAttributes`; an object that already has its names is not. A tenant has at most 2,000,000 ' +
  'connector objects, including deleted ones that can be restored; beyond, a new object is refused with `QuotaExceeded`.'

const NAME_LIMIT =
  'The external ids `.` and `..`, which a URL path cannot contain, are refused with `InvalidValue` for objects that do not ' +
  'exist. Objects of earlier releases that have one are in the list, and can be updated, renamed and deleted.'

const WRITE_REFUSALS = ['ConnectorNotFound', 'NotThisConnector', 'ConnectorDisabled'] as const
const DATA_REFUSALS = [
  'ConnectorSupplementsOnly',
  'UnknownAttribute',
  'TooManyAttributes',
  'QuotaExceeded',
  'ObjectTooLarge',
  'ReferenceToItself',
  'ReferenceCycle',
  'StaleVersion',
] as const

/** The connector space: the objects of one connector. */
export const connectorDataRoutes = (deps: ConnectorDataDependencies, prefix: string): Route[] => [
  route('GET', '/{id}/data', {
    operationId: 'listConnectorData',
    summary: 'List connector objects',
    description: 'Returns a page of the connector space, ordered by id.',
    roles: CONNECTOR_DATA_READERS,
    query: Type.Object({ ...PageQuery.properties, objectType: Type.Optional(ObjectTypeName) }),
    reply: { status: 200, schema: Type.Array(ConnectorObjectDto), paged: true },
    refusals: ['InvalidCursor', 'ConnectorNotFound', 'NotThisConnector'],
    run: ({ path: { id }, query, caller }) =>
      pagedResult(query, [caller.tenantId, 'connector-data', id, query.objectType], deps.cursors, (after, size) =>
        listConnectorObjects(id, query.objectType, after, size, caller, deps),
      ),
  }),
  route('GET', '/{id}/attribute-types', {
    operationId: 'listAttributeTypes',
    summary: 'List the types of custom attributes',
    description:
      'Returns the types that the connectors of the tenant give to custom attributes: by these, values of this connector ' +
      'are read.',
    roles: CONNECTOR_DATA_READERS,
    reply: { status: 200, schema: AttributeTypes },
    refusals: ['ConnectorNotFound', 'NotThisConnector'],
    run: async ({ path: { id }, caller }) => ok(await listAttributeTypes(id, caller, deps)),
  }),
  route('POST', '/{id}/data', {
    operationId: 'createConnectorObject',
    summary: 'Create a connector object',
    description:
      'Restores the deleted object with the same `objectType` and `externalId`, if there is one. Repeat the request to ' +
      'complete an interrupted write. `null`, blank strings and empty lists count as absent. The data of one object is ' +
      `limited to 512 KiB. ${NAME_LIMIT} ${ATTRIBUTE_LIMITS}`,
    roles: CONNECTOR_WRITERS,
    body: NewObjectBody,
    reply: { status: 201, schema: Guid },
    refusals: ['ConnectorObjectExists', ...WRITE_REFUSALS, ...DATA_REFUSALS],
    run: async ({ path: { id }, body, caller, creation }) =>
      created(await createConnectorObject(id, body, caller, deps, creation), `/${prefix}/${id}/data`, body),
  }),
  route('POST', '/{id}/data/batch', {
    operationId: 'writeConnectorBatch',
    summary: 'Write a batch of connector objects',
    description:
      'Processes up to 1000 upserts and deletions. Each item succeeds or fails separately; the results are in the order ' +
      'of the items. When the connector is deleted meanwhile, the remaining items are refused with `ConnectorNotFound`. ' +
      'A body in which one object has more than 10,000 members is refused with `InvalidJson`. ' +
      'An upsert with `previousExternalId` renames the object of that name, live or deleted: it keeps its core object, and ' +
      'references to the former name follow, in stored data too. Without such an object, it is an ordinary upsert. When both ' +
      'names have a live object, the item is refused with `ExternalIdInUse`. The former name is free for another object. ' +
      'Of identities, changes take effect first, then deletions, then creations, so that a person with a new external id ' +
      'is found in either order. Send the new record, the positions that refer to it, and the deletion of the former one in ' +
      'one batch: between two batches, the positions are those of another person, who may have no account. ' +
      'Of two changes that would together make an org unit its own ancestor, the later one is refused. ' +
      `${NAME_LIMIT} ${ATTRIBUTE_LIMITS}`,
    roles: CONNECTOR_WRITERS,
    body: BatchBody,
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    itemsFailAlone: true,
    reply: { status: 200, schema: Type.Array(BatchItemResult) },
    refusals: [...WRITE_REFUSALS, ...DATA_REFUSALS, 'DuplicateItem', 'ConnectorObjectNotFound', 'ExternalIdInUse'],
    run: async ({ path: { id }, body, caller }) =>
      ok((await writeConnectorBatch(id, body.items, caller, deps)).map(batchItemResult)),
  }),
  route('GET', '/{id}/data/{objectType}/{externalId}', {
    operationId: 'readConnectorObject',
    summary: 'Get a connector object',
    description:
      'By its `objectType` and `externalId`, percent-encoded. An `externalId` that contains the text `%2F` cannot be given ' +
      'in a path: it is read as `/`. Nor can `.` and `..`.',
    parameters: { objectType: ObjectTypeName, externalId: ExternalId },
    roles: CONNECTOR_DATA_READERS,
    // What is shown depends on the types of attributes, which are not part of the object.
    reply: { status: 200, schema: ConnectorObjectDto, versioned: 'for-writes' },
    refusals: ['ConnectorNotFound', 'NotThisConnector', 'ConnectorObjectNotFound'],
    run: async ({ path: { id, objectType, externalId }, caller }) =>
      okVersioned(await readConnectorObject(id, objectType, externalId, caller, deps), (value) => value),
  }),
  route('PUT', '/{id}/data/{connectorObjectId}', {
    operationId: 'replaceConnectorObject',
    summary: 'Replace a connector object',
    description:
      'Replaces the data of the object. Data equal to the stored data changes nothing, `lastUpdated` included. ' +
      ATTRIBUTE_LIMITS,
    roles: CONNECTOR_WRITERS,
    body: ReplacementBody,
    reply: { status: 200, schema: ConnectorObjectDto, versioned: true },
    refusals: ['ConnectorObjectNotFound', 'PreconditionFailed', ...WRITE_REFUSALS, ...DATA_REFUSALS],
    run: async ({ path: { id, connectorObjectId: objectId }, body, ifMatch, caller }) => {
      return okVersioned(await replaceConnectorObject(id, objectId, body, ifMatch, caller, deps), (value) => value)
    },
  }),
  route('DELETE', '/{id}/data/{connectorObjectId}', {
    operationId: 'deleteConnectorObject',
    summary: 'Delete a connector object',
    description:
      'The object can be restored for `softDeletionDays` of the connector. An identity that has no other source ' +
      'continues in the one other identity of the connector with the same value of a key of its `joinOn`, which may ' +
      'come before, in the same batch or within that time: it keeps its id, its memberships and its groups. Repeat the ' +
      'request to complete an interrupted deletion; the repeated request returns 404.',
    roles: CONNECTOR_WRITERS,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['ConnectorObjectNotFound', 'PreconditionFailed', ...WRITE_REFUSALS, 'StaleVersion'],
    run: async ({ path: { id, connectorObjectId }, ifMatch, caller }) =>
      deleted(deleteConnectorObject(id, connectorObjectId, ifMatch, caller, deps)),
  }),
]

function created(id: string, place: string, names: { objectType: string; externalId: string }): RouteResult<string> {
  const location = `${place}/${names.objectType}/${encodeURIComponent(names.externalId)}`
  return { data: id, headers: { location } }
}

/** Statuses of a batch's items: those that the operation for one object has. */
const ITEM_STATUS = { created: 201, updated: 200, unchanged: 200, deleted: 200 } as const

function batchItemResult(outcome: ItemOutcome, index: number) {
  if (outcome.outcome !== 'refused') {
    const { id, warnings } = outcome
    return { index, status: ITEM_STATUS[outcome.outcome], id, ...(warnings && { warnings: [...warnings] }) }
  }
  const [first] = outcome.errors
  return { index, status: first === undefined ? 500 : httpStatusOf(first), errors: outcome.errors }
}
