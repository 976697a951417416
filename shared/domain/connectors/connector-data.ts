import type { Caller, Role } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import type { Page, Versioned } from '../../kernel/versioned.ts'
import { isObjectType, type ObjectType } from '../core/core-object.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import type { Creation } from '../idempotency/run-once.ts'
import { type AttributeTypes, attributeTypesOf, customTypesOf } from './attribute-types.ts'
import type { Connector } from './connector.ts'
import { connectorNotFound } from './connector.ts'
import {
  type ConnectorObjectDto,
  connectorObjectId,
  type StoredConnectorObject,
  toConnectorObjectDto,
} from './connector-object.ts'
import { parseObjectData } from './object-data.ts'
import { type ObjectWrite, type ParsedWrite, parseBatchItems } from './object-input.ts'
import type { ItemOutcome, ItemWarning } from './write-decision.ts'
import type { WriteDependencies } from './write-dependencies.ts'
import { writeObjects } from './write-objects.ts'

/** Roles that may write to a connector space, restricted to the connector's own application. */
export const CONNECTOR_WRITERS: readonly Role[] = ['iam-core.connector-data.readwrite.self']
export const CONNECTOR_DATA_READERS: readonly Role[] = ['Administrator', ...CONNECTOR_WRITERS]

export type ObjectCreation = { readonly externalId: string; readonly objectType: ObjectType; readonly data: unknown }
/** The body may contain the whole object as read. Its names must then equal the stored ones. */
export type ObjectReplacement = {
  readonly externalId?: string
  readonly objectType?: ObjectType
  readonly data: unknown
}

/**
 * Writes a batch. Each item succeeds or fails independently.
 * @returns The outcome of each item, in order.
 * @throws Refusal `ConnectorNotFound`, `NotThisConnector`, `ConnectorDisabled`.
 */
export async function writeConnectorBatch(
  connectorId: string,
  items: readonly unknown[],
  caller: Caller,
  deps: WriteDependencies,
): Promise<ItemOutcome[]> {
  const connectors = await writableConnector(connectorId, caller, deps)
  const read = await deps.scheduler.run(parseBatchItems(items, customTypesOf(connectors.all)))
  const writes = read.flatMap((item) => ('write' in item ? [item.write] : []))
  const outcomes = (await writeObjects(caller.tenantId, connectors.own, writes, deps, connectors.all)).values()
  return read.map((item, index) => outcomeOf(item, index, outcomes))
}

/**
 * Creates an object, or restores the soft-deleted object of the same names.
 * @returns The object's id.
 * @throws Refusal `ConnectorObjectExists` and those of `writeBatch`; all faults of the data at once.
 */
export async function createConnectorObject(
  connectorId: string,
  { objectType, externalId, data }: ObjectCreation,
  caller: Caller,
  deps: WriteDependencies,
  { isRetry }: Creation,
): Promise<string> {
  const all = await deps.connectors.list(caller.tenantId)
  const read = parseObjectData(objectType, data, '/data', customTypesOf(all))
  throwIfRefused(read.faults)
  const connectors = writableAmong(all, connectorId, caller)
  const operation = isRetry ? 'recreate' : 'create'
  return writeOne(connectors, { operation, objectType, externalId, data: read.data }, caller, deps)
}

/**
 * Replaces an object's data.
 * @throws Refusal `ConnectorObjectNotFound`, `PreconditionFailed` and those of `writeBatch`; all faults at once.
 */
export async function replaceConnectorObject(
  connectorId: string,
  id: string,
  replacement: ObjectReplacement,
  ifMatch: string | undefined,
  caller: Caller,
  deps: WriteDependencies,
): Promise<Versioned<ConnectorObjectDto>> {
  const connectors = await writableConnector(connectorId, caller, deps)
  const types = customTypesOf(connectors.all)
  const { value: object } = await requireLiveObject(caller.tenantId, connectorId, id, deps)
  const { objectType, externalId } = object
  const read = parseObjectData(objectType, replacement.data, '/data', types)
  throwIfRefused([...nameFaults(replacement, object), ...read.faults])
  await writeOne(connectors, { operation: 'replace', objectType, externalId, data: read.data, ifMatch }, caller, deps)
  return asDto(await requireLiveObject(caller.tenantId, connectorId, id, deps), types)
}

/**
 * Soft-deletes an object.
 * @throws Refusal `ConnectorObjectNotFound`, `PreconditionFailed` and those of `writeBatch`.
 */
export async function deleteConnectorObject(
  connectorId: string,
  id: string,
  ifMatch: string | undefined,
  caller: Caller,
  deps: WriteDependencies,
): Promise<void> {
  const connectors = await writableConnector(connectorId, caller, deps)
  // The write refuses an object that is already deleted, after it has completed an interrupted deletion.
  const { objectType, externalId } = (await requireStoredObject(caller.tenantId, connectorId, id, deps)).value
  await writeOne(connectors, { operation: 'delete', objectType, externalId, ifMatch }, caller, deps)
}

/**
 * Returns an object by type and external id.
 * @throws Refusal `ConnectorNotFound`, `NotThisConnector`, `ConnectorObjectNotFound`.
 */
export async function readConnectorObject(
  connectorId: string,
  objectType: string,
  externalId: string,
  caller: Caller,
  deps: WriteDependencies,
): Promise<Versioned<ConnectorObjectDto>> {
  const types = await readableTypes(connectorId, caller, deps)
  if (!isObjectType(objectType))
    throw new Refusal('InvalidValue', `There is no object type ${objectType}`, 'objectType')
  const id = connectorObjectId({ connectorId, objectType, externalId }, deps.deriveId)
  return asDto(await requireLiveObject(caller.tenantId, connectorId, id, deps), types)
}

const asDto = ({ value, version }: Versioned<StoredConnectorObject>, types: CustomTypes) => ({
  value: toConnectorObjectDto(value, types),
  version,
})

/** Returns a page of the connector space, ordered by id. @throws Refusal `ConnectorNotFound`, `NotThisConnector`. */
export async function listConnectorObjects(
  connectorId: string,
  objectType: ObjectType | undefined,
  after: string | undefined,
  size: number,
  caller: Caller,
  deps: WriteDependencies,
): Promise<Page<ConnectorObjectDto>> {
  const types = await readableTypes(connectorId, caller, deps)
  const page = await deps.objects.page(caller.tenantId, connectorId, objectType, after, size)
  return { ...page, items: page.items.map((object) => toConnectorObjectDto(object, types)) }
}

/** The connector of the caller, and all of the tenant. */
type OwnConnector = { readonly own: Connector; readonly all: readonly Connector[] }

async function writableConnector(id: string, caller: Caller, deps: WriteDependencies): Promise<OwnConnector> {
  return writableAmong(await deps.connectors.list(caller.tenantId), id, caller)
}

function writableAmong(all: readonly Connector[], id: string, caller: Caller): OwnConnector {
  const own = all.find((connector) => connector.id === id)
  if (own === undefined) throw connectorNotFound(id)
  requireOwnApplication(own, caller)
  if (!own.enabled) throw new Refusal('ConnectorDisabled', `Connector ${id} is disabled`)
  return { own, all }
}

/** Returns the types of the tenant's custom attributes. @throws Refusal `ConnectorNotFound`, `NotThisConnector`. */
export async function listAttributeTypes(id: string, caller: Caller, deps: WriteDependencies): Promise<AttributeTypes> {
  const connectors = await deps.connectors.list(caller.tenantId)
  const connector = connectors.find((each) => each.id === id)
  if (connector === undefined) throw connectorNotFound(id)
  if (!caller.roles.has('Administrator')) requireOwnApplication(connector, caller)
  return attributeTypesOf(connectors)
}

async function readableTypes(id: string, caller: Caller, deps: WriteDependencies): Promise<CustomTypes> {
  return customTypesOf([{ attributeTypes: await listAttributeTypes(id, caller, deps) }])
}

function requireOwnApplication({ id, clientId }: Connector, caller: Caller): void {
  if (caller.clientId === clientId) return
  throw new Refusal(
    'NotThisConnector',
    caller.clientId === undefined
      ? `Only the application of connector ${id} can access its data`
      : `Application ${caller.clientId} is not the application of connector ${id}`,
  )
}

async function requireLiveObject(
  tenantId: string,
  connectorId: string,
  id: string,
  { objects }: Pick<WriteDependencies, 'objects'>,
): Promise<Versioned<StoredConnectorObject>> {
  const object = await requireStoredObject(tenantId, connectorId, id, { objects })
  if (object.value.deletedAtMs === undefined) return object
  throw objectNotFound(connectorId, id)
}

/** Returns the object, also when it is soft-deleted. */
async function requireStoredObject(
  tenantId: string,
  connectorId: string,
  id: string,
  { objects }: Pick<WriteDependencies, 'objects'>,
): Promise<Versioned<StoredConnectorObject>> {
  const [found] = await objects.ofIds(tenantId, [id])
  if (found?.value.connectorId === connectorId) return found
  throw objectNotFound(connectorId, id)
}

const objectNotFound = (connectorId: string, id: string): Refusal =>
  new Refusal('ConnectorObjectNotFound', `Connector ${connectorId} has no object ${id}`)

function nameFaults({ externalId, objectType }: ObjectReplacement, object: StoredConnectorObject): RefusalEntry[] {
  const faults: RefusalEntry[] = []
  if (externalId !== undefined && externalId !== object.externalId) {
    faults.push(refusalEntry('InvalidValue', `externalId is ${object.externalId} and cannot be changed`, '/externalId'))
  }
  if (objectType !== undefined && objectType !== object.objectType) {
    faults.push(refusalEntry('InvalidValue', `objectType is ${object.objectType} and cannot be changed`, '/objectType'))
  }
  return faults
}

async function writeOne(
  { own, all }: OwnConnector,
  write: ObjectWrite,
  caller: Caller,
  deps: WriteDependencies,
): Promise<string> {
  const [outcome] = await writeObjects(caller.tenantId, own, [write], deps, all)
  if (outcome === undefined) throw new Error('A write has no outcome')
  if (outcome.outcome === 'refused') throw Refusal.ofAll(outcome.errors)
  return outcome.id
}

/** Faults found during parsing have pointers into the body. Those of the decision have pointers into their item. */
function outcomeOf(item: ParsedWrite, index: number, outcomes: Iterator<ItemOutcome>): ItemOutcome {
  if ('faults' in item) return { outcome: 'refused', errors: item.faults }
  const outcome = outcomes.next().value as ItemOutcome
  if (outcome.outcome !== 'refused') return withPlaces(outcome, index)
  const placed = outcome.errors.map((entry) => ({ ...entry, target: `/items/${index}${entry.target ?? ''}` }))
  return { outcome: 'refused', errors: placed }
}

function withPlaces<T extends { readonly warnings?: readonly ItemWarning[] }>(outcome: T, index: number): T {
  if (outcome.warnings === undefined) return outcome
  return {
    ...outcome,
    warnings: outcome.warnings.map((warning) => ({ ...warning, target: `/items/${index}${warning.target}` })),
  }
}
