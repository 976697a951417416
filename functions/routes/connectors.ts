import { Type } from 'typebox'
import { ConnectorUpdate, NewConnector } from '../../shared/domain/connectors/connector.ts'
import { ConnectorAuditEntry, listConnectorAudit } from '../../shared/domain/connectors/connector-audit.ts'
import { ConnectorRecord } from '../../shared/domain/connectors/connector-health.ts'
import {
  type ConnectorDependencies,
  createConnector,
  deleteConnector,
  listConnectors,
  readConnector,
  updateConnector,
  withDeliveries,
} from '../../shared/domain/connectors/manage-connectors.ts'
import { ConnectorPlan, planConnector } from '../../shared/domain/connectors/plan-connector.ts'
import { ListedReference, listUnresolved } from '../../shared/domain/connectors/unresolved-references.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { type OpenCursors, PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { created, deleted, ok, okVersioned, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import type { Role } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import type { Versioned } from '../../shared/kernel/versioned.ts'
import { type ConnectorDataDependencies, connectorDataRoutes } from './connector-data.ts'
import { PREFIXES } from './prefixes.ts'

const MANAGERS: readonly Role[] = ['Administrator', 'iam-core.connector-configuration.readwrite.all']
export const CONNECTOR_READERS: readonly Role[] = [...MANAGERS, 'iam-core.connector-configuration.read.all']

/** The read routes at a second path, without the version segment, for clients that use that one. */
export function connectorReadRoutes(deps: ConnectorDependencies): RouteGroup {
  const routes = readingRoutes(deps).map((route) => ({ ...route, operationId: `${route.operationId}Unversioned` }))
  return { prefix: PREFIXES.connectorsReading, routes }
}

/** Connectors and their data. */
export function connectorRoutes(
  deps: ConnectorDependencies & ConnectorDataDependencies & { readonly cursors: OpenCursors },
): RouteGroup {
  return {
    prefix: PREFIXES.connectors,
    routes: [
      ...readingRoutes(deps),
      auditRoute(deps),
      unresolvedRoute(deps),
      planRoute(deps),
      ...managingRoutes(deps),
      ...connectorDataRoutes(deps, PREFIXES.connectors),
    ],
  }
}

const readingRoutes = (deps: ConnectorDependencies): Route[] => [
  route('GET', '/', {
    operationId: 'listConnectors',
    summary: 'List connectors',
    description: 'In order of creation, with what each connector has delivered.',
    roles: CONNECTOR_READERS,
    reply: { status: 200, schema: Type.Array(ConnectorRecord) },
    run: async ({ caller }) => ok(await listConnectors(caller.tenantId, deps)),
  }),
  route('GET', '/{id}', {
    operationId: 'readConnector',
    summary: 'Get a connector',
    roles: CONNECTOR_READERS,
    // What it has delivered, and its health, change without a new version.
    reply: { status: 200, schema: ConnectorRecord, versioned: 'for-writes' },
    refusals: ['ConnectorNotFound'],
    run: async ({ caller, path: { id } }) => connectorResult(await readConnector(caller.tenantId, id, deps)),
  }),
]

const auditRoute = (deps: ConnectorDependencies & { readonly cursors: OpenCursors }): Route =>
  route('GET', '/{id}/audit', {
    operationId: 'listConnectorAudit',
    summary: 'List what was done to a connector',
    description:
      'Returns a page of the changes of the settings of a connector, the newest first. Entries are kept for good, also ' +
      'those of a deleted connector. Changes by versions of the service without this audit are not in it.',
    roles: CONNECTOR_READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(ConnectorAuditEntry), paged: true },
    refusals: ['ConnectorNotFound', 'InvalidCursor'],
    run: ({ path: { id }, query, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'connector audit', id], deps.cursors, (after, size) =>
        listConnectorAudit(tenantId, id, { after, size }, deps),
      ),
  })

const unresolvedRoute = (deps: ConnectorDataDependencies): Route =>
  route('GET', '/{id}/unresolved', {
    operationId: 'listUnresolvedReferences',
    summary: 'List the references of a connector that lead nowhere',
    description:
      "Returns a page of the references of the connector's objects to objects that do not exist or are deleted. They " +
      'resolve when the objects arrive. Of one object, at most 200 are listed. A relationship whose `identity` leads ' +
      'nowhere counts as a person without a directory account; one without an `identity`, or whose identity is deleted, is ' +
      'a vacancy, which needs none.',
    roles: CONNECTOR_READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(ListedReference), paged: true },
    refusals: ['ConnectorNotFound', 'InvalidCursor'],
    run: ({ path: { id }, query, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'unresolved references', id], deps.cursors, (after, size) =>
        listUnresolved(tenantId, id, { after, size }, deps),
      ),
  })

const planRoute = (deps: ConnectorDataDependencies): Route =>
  route('POST', '/{id}/plan', {
    operationId: 'planConnector',
    summary: 'Plan a change of a connector',
    description:
      'Returns how many identities a change of `joinOn`, `bindsAccounts` or `authority` would merge, split, add or remove, ' +
      'and how many would lose or gain an account. Changes nothing. Reads all identities of the tenant.',
    roles: MANAGERS,
    body: ConnectorUpdate,
    reply: { status: 200, schema: ConnectorPlan },
    refusals: ['ConnectorNotFound'],
    run: async ({ path: { id }, body, caller: { tenantId } }) => ok(await planConnector(tenantId, id, body, deps)),
  })

const TYPE_REFUSALS = ['AttributeTypeConflict', 'AttributeValuesDoNotFit', 'ConditionsDoNotFit'] as const

const managingRoutes = (deps: ConnectorDependencies): Route[] => [
  route('POST', '/', {
    operationId: 'createConnector',
    summary: 'Create a connector',
    description:
      'A tenant has at most 100 connectors.\n\n' +
      'What a connector delivers has power: its relationships and org units decide who manages other people, what a ' +
      'manager reads and approves, and which conditions people satisfy; a `nin` or `directoryObjectId` joins its ' +
      'identities with those of other connectors, and with `bindsAccounts` it decides who is signed in with an account. ' +
      'Create a connector only for a source that may decide this.',
    roles: MANAGERS,
    identity: 'optional',
    body: NewConnector,
    reply: { status: 201, schema: Guid },
    refusals: ['QuotaExceeded', ...TYPE_REFUSALS],
    run: async ({ body, caller, identityId, creation }) =>
      created(PREFIXES.connectors, (await createConnector(body, { ...caller, identityId }, deps, creation)).id),
  }),
  route('PUT', '/{id}', {
    operationId: 'updateConnector',
    summary: 'Update a connector',
    description: 'Omitted members keep their values. `expectedIntervalHours: null` removes the expectation.',
    roles: MANAGERS,
    identity: 'optional',
    body: ConnectorUpdate,
    reply: { status: 200, schema: ConnectorRecord, versioned: true },
    refusals: ['ConnectorNotFound', 'PreconditionFailed', 'StaleVersion', ...TYPE_REFUSALS],
    run: async ({ path: { id }, body, ifMatch, caller, identityId }) => {
      const updated = await updateConnector(id, body, ifMatch, { ...caller, identityId }, deps)
      return connectorResult(await withDeliveries(caller.tenantId, updated, deps))
    },
  }),
  route('DELETE', '/{id}', {
    operationId: 'deleteConnector',
    summary: 'Delete a connector',
    description:
      'A connector with live objects cannot be deleted, nor one whose `attributeTypes` values or conditions of the tenant ' +
      'still need. Repeat the request to complete an interrupted deletion. Of two ' +
      'concurrent deletions, one returns 404.',
    roles: MANAGERS,
    identity: 'optional',
    reply: { status: 200, schema: Type.Null() },
    refusals: [
      'ConnectorNotFound',
      'ConnectorInUse',
      'AttributeValuesDoNotFit',
      'ConditionsDoNotFit',
      'PreconditionFailed',
      'StaleVersion',
    ],
    run: async ({ path: { id }, ifMatch, caller, identityId }) =>
      deleted(deleteConnector(id, ifMatch, { ...caller, identityId }, deps)),
  }),
]

function connectorResult(connector: Versioned<ConnectorRecord>): RouteResult<ConnectorRecord> {
  return okVersioned(connector, (value) => value)
}
