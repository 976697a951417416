import { Type } from 'typebox'
import type { Role } from '../../shared/domain/caller.ts'
import { Connector, ConnectorUpdate, NewConnector } from '../../shared/domain/connectors/connector.ts'
import {
  type ConnectorDependencies,
  createConnector,
  deleteConnector,
  requireConnector,
  updateConnector,
} from '../../shared/domain/connectors/manage-connectors.ts'
import { Guid } from '../../shared/domain/guid.ts'
import type { Versioned } from '../../shared/domain/versioned.ts'
import type { Answer } from '../../shared/http/envelope.ts'
import { pathValue, type Route, type RouteGroup, route } from '../../shared/http/route.ts'
import { type ConnectorDataDependencies, connectorDataRoutes } from './connector-data.ts'
import { PREFIXES } from './prefixes.ts'

/** Decisions, section 2. */
const MANAGERS: readonly Role[] = ['Administrator', 'iam-core.connector-configuration.readwrite.all']
const READERS: readonly Role[] = [...MANAGERS, 'iam-core.connector-configuration.read.all']

export function connectorsReadingGroup(deps: ConnectorDependencies): RouteGroup {
  const routes = readingRoutes(deps).map((each) => ({ ...each, operationId: `${each.operationId}Unversioned` }))
  return { prefix: PREFIXES.connectorsReading, routes }
}

export function connectorsGroup(deps: ConnectorDependencies & ConnectorDataDependencies): RouteGroup {
  return {
    prefix: PREFIXES.connectors,
    routes: [...readingRoutes(deps), ...managingRoutes(deps), ...connectorDataRoutes(deps, PREFIXES.connectors)],
  }
}

const readingRoutes = ({ connectors }: ConnectorDependencies): Route[] => [
  route({
    operationId: 'listConnectors',
    summary: 'All connectors, in the order of their creation',
    method: 'GET',
    path: '/',
    roles: READERS,
    reply: { status: 200, schema: Type.Array(Connector) },
    refusals: [],
    run: async ({ caller }) => ({ data: await connectors.list(caller.tenantId) }),
  }),
  route({
    operationId: 'readConnector',
    summary: 'One connector',
    method: 'GET',
    path: '/{id}',
    roles: READERS,
    reply: { status: 200, schema: Connector, versioned: true },
    refusals: ['ConnectorNotFound'],
    run: async ({ caller, path }) => record(await requireConnector(caller.tenantId, pathValue(path, 'id'), connectors)),
  }),
]

const managingRoutes = (deps: ConnectorDependencies): Route[] => [
  route({
    operationId: 'createConnector',
    summary: 'Add a connector',
    method: 'POST',
    path: '/',
    roles: MANAGERS,
    body: NewConnector,
    reply: { status: 201, schema: Guid },
    refusals: [],
    run: async ({ body, caller, creation }) => created(await createConnector(body, caller, deps, creation)),
  }),
  route({
    operationId: 'updateConnector',
    summary: 'Change a connector; what is left out keeps its value',
    method: 'PUT',
    path: '/{id}',
    roles: MANAGERS,
    body: ConnectorUpdate,
    reply: { status: 200, schema: Connector, versioned: true },
    refusals: ['ConnectorNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async ({ path, body, ifMatch, caller }) =>
      record(await updateConnector(pathValue(path, 'id'), body, ifMatch, caller, deps)),
  }),
  route({
    operationId: 'deleteConnector',
    summary: 'Remove a connector that has no live objects',
    method: 'DELETE',
    path: '/{id}',
    roles: MANAGERS,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['ConnectorNotFound', 'ConnectorInUse', 'PreconditionFailed', 'StaleVersion'],
    run: async ({ path, ifMatch, caller }) => {
      await deleteConnector(pathValue(path, 'id'), ifMatch, caller, deps)
      return { data: null }
    },
  }),
]

function created({ id }: Connector): Answer<string> {
  return { data: id, headers: { location: `/${PREFIXES.connectors}/${id}` } }
}

function record({ value, version }: Versioned<Connector>): Answer<Connector> {
  return { data: value, headers: { etag: version } }
}
