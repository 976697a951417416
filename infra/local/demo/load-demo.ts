import type { ObjectType } from '../../../shared/domain/core/core-object.ts'
import { chunk } from '../../../shared/kernel/chunk.ts'
import { forEachConcurrent } from '../../../shared/kernel/concurrency.ts'
import type { DemoAnswer } from '../directory/seed.ts'
import { type ApiAccess, apiCaller, type Call } from './api-caller.ts'
import type { ConnectorObject, Municipality } from './municipality.ts'
import type { SentObjects } from './sent-objects.ts'

type LoadOptions = ApiAccess & {
  readonly demo: DemoAnswer
  readonly municipalities: readonly Municipality[]
  readonly sentObjects: SentObjects
}

export type LoadSummary = {
  readonly tenants: readonly {
    readonly tenantId: string
    readonly connectorId: string
    /** Objects that no earlier start has sent and the connector did not have. */
    readonly sentCount: number
    readonly presentCount: number
  }[]
}

type ItemResult = { readonly index: number; readonly status: number; readonly errors?: unknown }

const CONNECTOR_NAME = 'Demo HR'
const CONNECTORS = '/iamcore/beta/sync/connectors'
/** The limit of `writeConnectorBatch`. */
const ITEMS_PER_CALL = 1000
const PAGE_SIZE = 5000
const CALLS_IN_FLIGHT = 3
const INVALID_ITEMS_SHOWN = 3

/** Referenced objects first. */
const ORDER = ['orgUnit', 'identity', 'relationship'] as const satisfies readonly ObjectType[]

/**
 * Loads the municipalities through the connector API, like an HR system. Finds or creates a connector in each tenant
 * and sends the objects that no earlier start has sent, so that a restart keeps later changes, renames and deletions.
 * After an interrupted start, objects that the connector has already are not changed.
 * @throws Error that names the refused call, or the first invalid items
 */
export async function loadDemo(options: LoadOptions): Promise<LoadSummary> {
  const tenants: LoadSummary['tenants'][number][] = []
  for (const municipality of options.municipalities) tenants.push(await loadTenant(municipality, options))
  return { tenants }
}

async function loadTenant(municipality: Municipality, options: LoadOptions): Promise<LoadSummary['tenants'][number]> {
  const { tenantId } = municipality
  const apps = options.demo.tenants.find((tenant) => tenant.tenantId === tenantId)?.apps
  const named = (name: string) => {
    const app = apps?.find((known) => known.name === name)
    if (app === undefined) throw new Error(`Tenant ${tenantId} has no application ${name}`)
    return app
  }
  const connector = named('connector')
  const asOperator = await apiCaller(tenantId, named('operator'), options)
  const connectorId = await connectorOf(connector.clientId, asOperator)
  const asConnector = await apiCaller(tenantId, connector, options)
  const objects = {
    orgUnit: municipality.orgUnits,
    identity: municipality.identities,
    relationship: municipality.relationships,
  }
  const counts = { sentCount: 0, presentCount: 0 }
  for (const objectType of ORDER) {
    const unsent = options.sentObjects.notYetSent(connectorId, objects[objectType])
    const present = unsent.length === 0 ? new Set() : await externalIds(objectType, connectorId, asConnector)
    const missing = unsent.filter(({ externalId }) => !present.has(externalId))
    await send(missing, connectorId, asConnector)
    options.sentObjects.record(connectorId, unsent)
    counts.sentCount += missing.length
    counts.presentCount += objects[objectType].length - missing.length
  }
  return { tenantId, connectorId, ...counts }
}

async function connectorOf(clientId: string, call: Call): Promise<string> {
  const { data } = await call('GET', CONNECTORS)
  const known = (data as { id: string; name: string; clientId: string }[]).find(
    (connector) => connector.name === CONNECTOR_NAME && connector.clientId === clientId,
  )
  if (known !== undefined) return known.id
  const created = await call('POST', CONNECTORS, { name: CONNECTOR_NAME, clientId })
  return String(created.data)
}

async function externalIds(objectType: ObjectType, connectorId: string, call: Call): Promise<Set<string>> {
  const found = new Set<string>()
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ objectType, pageSize: String(PAGE_SIZE) })
    if (cursor !== undefined) query.set('nextCursor', cursor)
    const page = await call('GET', `${CONNECTORS}/${connectorId}/data?${query}`)
    for (const { externalId } of page.data as { externalId: string }[]) found.add(externalId)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found
}

/** Sends concurrent batches. The order of objects of one type does not matter. */
async function send(objects: readonly ConnectorObject[], connectorId: string, call: Call): Promise<void> {
  await forEachConcurrent(chunk(objects, ITEMS_PER_CALL), CALLS_IN_FLIGHT, (batch) =>
    sendBatch(batch, connectorId, call),
  )
}

async function sendBatch(batch: readonly ConnectorObject[], connectorId: string, call: Call): Promise<void> {
  const items = batch.map((object) => ({ op: 'upsert', ...object }))
  const { data } = await call('POST', `${CONNECTORS}/${connectorId}/data/batch`, { items })
  const results = data as ItemResult[]
  if (results.length !== items.length) {
    throw new Error(`The API returned ${results.length} results for ${items.length} demo objects`)
  }
  const invalid = results.filter(({ status }) => status >= 300)
  if (invalid.length === 0) return
  const shown = invalid
    .slice(0, INVALID_ITEMS_SHOWN)
    .map(({ index, status, errors }) => `${batch[index]?.externalId}: ${status} ${JSON.stringify(errors ?? [])}`)
  throw new Error(`${invalid.length} of ${items.length} demo objects were refused: ${shown.join('; ')}`)
}
