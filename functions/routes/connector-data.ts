import { Type } from 'typebox'
import {
  CONNECTOR_DATA_READERS,
  CONNECTOR_WRITERS,
  createConnectorObject,
  deleteConnectorObject,
  listConnectorObjects,
  readConnectorObject,
  replaceConnectorObject,
  writeConnectorBatch,
} from '../../shared/domain/connectors/connector-data.ts'
import { ConnectorObjectDto, ExternalId, ObjectTypeName } from '../../shared/domain/connectors/connector-object.ts'
import type { ItemOutcome } from '../../shared/domain/connectors/decide-writes.ts'
import { BATCH_OPERATIONS } from '../../shared/domain/connectors/object-input.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-objects.ts'
import { deleted, ok } from '../../shared/http/answers.ts'
import type { OpenCursors } from '../../shared/http/cursor.ts'
import { httpStatusOf, type RouteResult } from '../../shared/http/envelope.ts'
import { PageQuery, pagedAnswer } from '../../shared/http/paging.ts'
import { pathValue, type Route, route } from '../../shared/http/route.ts'
import { Closed, Guid } from '../../shared/kernel/schema.ts'

export type ConnectorDataDependencies = WriteDependencies & { readonly cursors: OpenCursors }

/** Decisions, sections 1 and 4. */
const BATCH_LIMIT_BYTES = 4 * 1024 * 1024
const BATCH_ITEMS_LIMIT_COUNT = 1000

/** Attributes by name. Checked by the type of the object rather than by a schema. */
export const ConnectorData = Type.Record(Type.String(), Type.Unknown())

export const NewConnectorObject = Type.Object({
  externalId: ExternalId,
  objectType: ObjectTypeName,
  data: ConnectorData,
})
export const ConnectorObjectReplacement = Type.Object({
  externalId: Type.Optional(ExternalId),
  objectType: Type.Optional(ObjectTypeName),
  data: ConnectorData,
})

/** Each item is checked for itself, so the list says nothing of its items to the validator. */
export const BatchItem = Type.Unknown({ title: `An ${BATCH_OPERATIONS.join(' or ')}` })
export const Batch = Type.Object({ items: Type.Array(BatchItem, { maxItems: BATCH_ITEMS_LIMIT_COUNT }) })

export const BatchItemResult = Closed({
  index: Type.Integer(),
  status: Type.Integer(),
  id: Type.Optional(Guid),
  errors: Type.Optional(
    Type.Array(Closed({ code: Type.String(), message: Type.String(), target: Type.Optional(Type.String()) })),
  ),
})

const WRITE_REFUSALS = ['ConnectorNotFound', 'NotThisConnector', 'ConnectorDisabled'] as const
const DATA_REFUSALS = ['UnknownAttribute', 'ReferenceToItself', 'ReferenceCycle', 'StaleVersion'] as const

/** What a connector says: its connector space. */
export const connectorDataRoutes = (deps: ConnectorDataDependencies, prefix: string): Route[] => [
  route({
    operationId: 'listConnectorData',
    summary: 'The connector space, in the order of ids',
    method: 'GET',
    path: '/{id}/data',
    roles: CONNECTOR_DATA_READERS,
    query: Type.Object({ ...PageQuery.properties, objectType: Type.Optional(ObjectTypeName) }),
    reply: { status: 200, schema: Type.Array(ConnectorObjectDto), paged: true },
    refusals: ['InvalidCursor', 'ConnectorNotFound', 'NotThisConnector'],
    run: ({ path: { id = '' }, query, caller }) =>
      pagedAnswer(query, [caller.tenantId, 'connector-data', id, query.objectType], deps.cursors, (after, size) =>
        listConnectorObjects(id, query.objectType, after, size, caller, deps),
      ),
  }),
  route({
    operationId: 'createConnectorObject',
    summary: 'Add an object to the connector space, or restore the deleted one of these names',
    description:
      'A write that died half-way is mended by sending the same again. `null` and strings of white space alone ' +
      'count as absent. The data of one object may have 512 KiB at most.',
    method: 'POST',
    path: '/{id}/data',
    roles: CONNECTOR_WRITERS,
    body: NewConnectorObject,
    reply: { status: 201, schema: Guid },
    refusals: ['ConnectorObjectExists', ...WRITE_REFUSALS, ...DATA_REFUSALS],
    run: async ({ path: { id = '' }, body, caller, creation }) =>
      created(await createConnectorObject(id, body, caller, deps, creation), `/${prefix}/${id}/data`, body),
  }),
  route({
    operationId: 'writeConnectorBatch',
    summary: 'Up to 1000 upserts and deletions; one bad item fails alone',
    description:
      'Each item is answered in its place. Once the deletion of the connector is certain, items are refused with ' +
      '`ConnectorNotFound`. Of two changes that would together close a circle of org units, the later is refused.',
    method: 'POST',
    path: '/{id}/data/batch',
    roles: CONNECTOR_WRITERS,
    body: Batch,
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    itemsFailAlone: true,
    reply: { status: 200, schema: Type.Array(BatchItemResult) },
    refusals: [...WRITE_REFUSALS, ...DATA_REFUSALS, 'DuplicateItem', 'ConnectorObjectNotFound'],
    run: async ({ path, body, caller }) =>
      ok((await writeConnectorBatch(pathValue(path, 'id'), body.items, caller, deps)).map(batchItemResult)),
  }),
  route({
    operationId: 'readConnectorObject',
    summary: 'One object by its own names',
    method: 'GET',
    path: '/{id}/data/{objectType}/{externalId}',
    parameters: { objectType: ObjectTypeName, externalId: ExternalId },
    roles: CONNECTOR_DATA_READERS,
    reply: { status: 200, schema: ConnectorObjectDto },
    refusals: ['ConnectorNotFound', 'NotThisConnector', 'ConnectorObjectNotFound'],
    run: async ({ path: { id = '', objectType = '', externalId = '' }, caller }) =>
      ok(await readConnectorObject(id, objectType, externalId, caller, deps)),
  }),
  route({
    operationId: 'replaceConnectorObject',
    summary: 'Replace what the connector says of an object',
    method: 'PUT',
    path: '/{id}/data/{connectorObjectId}',
    roles: CONNECTOR_WRITERS,
    body: ConnectorObjectReplacement,
    reply: { status: 200, schema: ConnectorObjectDto },
    refusals: ['ConnectorObjectNotFound', ...WRITE_REFUSALS, ...DATA_REFUSALS],
    run: async ({ path, body, caller }) =>
      ok(await replaceConnectorObject(pathValue(path, 'id'), pathValue(path, 'connectorObjectId'), body, caller, deps)),
  }),
  route({
    operationId: 'deleteConnectorObject',
    summary: 'Delete an object; it can be restored for as long as the connector keeps deleted objects',
    description: 'A deletion that died half-way is mended by sending it again, although it is then answered with 404.',
    method: 'DELETE',
    path: '/{id}/data/{connectorObjectId}',
    roles: CONNECTOR_WRITERS,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['ConnectorObjectNotFound', ...WRITE_REFUSALS, 'StaleVersion'],
    run: async ({ path, caller }) =>
      deleted(deleteConnectorObject(pathValue(path, 'id'), pathValue(path, 'connectorObjectId'), caller, deps)),
  }),
]

function created(id: string, place: string, names: { objectType: string; externalId: string }): RouteResult<string> {
  const location = `${place}/${names.objectType}/${encodeURIComponent(names.externalId)}`
  return { data: id, headers: { location } }
}

/** Statuses of a batch's items: decisions, section 4. */
const ITEM_STATUS = { created: 201, updated: 200, unchanged: 200, deleted: 200 } as const

function batchItemResult(outcome: ItemOutcome, index: number) {
  if (outcome.outcome !== 'refused') return { index, status: ITEM_STATUS[outcome.outcome], id: outcome.id }
  const [first] = outcome.errors
  return { index, status: first === undefined ? 500 : httpStatusOf(first), errors: outcome.errors }
}
