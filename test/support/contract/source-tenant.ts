import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Service } from '../../../functions/app/service.ts'
import { type Connector, newConnector } from '../../../shared/domain/connectors/connector.ts'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import { type AttributeValue, OBJECT_TYPES } from '../../../shared/domain/core/core-object.ts'

type Stores = Pick<Service['connectors'], 'connectors' | 'objects' | 'coreObjects'>

export type SourceTenant = { readonly tenantId: string; readonly connectors: readonly Connector[] }

/** Connectors with these ids and their objects have the same ids in every tenant, so that their order is the same. */
export async function newSourceTenant(ids: readonly string[], stores: Stores): Promise<SourceTenant> {
  const tenantId = randomUUID()
  const connectors = ids.map((id, index) => {
    const creation = { id, createdBy: randomUUID(), createdAt: `2030-01-0${index + 1}T00:00:00.000+00:00` }
    return newConnector({ name: 'A source', clientId: randomUUID() }, creation)
  })
  for (const connector of connectors) await stores.connectors.add(tenantId, connector)
  return { tenantId, connectors }
}

/** The objects of all connectors, deleted ones not included. */
export async function contributionsOf(
  { tenantId, connectors }: SourceTenant,
  { objects }: Stores,
): Promise<ConnectorObject[]> {
  const spaces = connectors.map(({ id }) => objects.page(tenantId, id, undefined, undefined, 1000))
  return (await Promise.all(spaces)).flatMap(({ items }) => items)
}

/** The core objects by their contributors instead of their ids. */
export async function recordsOf(tenant: SourceTenant, stores: Stores): Promise<unknown[]> {
  const { tenantId } = tenant
  const { coreObjects } = stores
  const byCoreObject = Map.groupBy(await contributionsOf(tenant, stores), ({ coreObjectId }) => coreObjectId)
  const whoIs = (id: string): string => (byCoreObject.get(id) ?? []).map(({ id: contributor }) => contributor).join()
  const named = (value: AttributeValue): unknown =>
    typeof value === 'object' && 'objectId' in value ? whoIs(value.objectId) : value
  const pages = OBJECT_TYPES.map((type) => coreObjects.page(tenantId, type, undefined, 1000))
  const live = (await Promise.all(pages)).flatMap(({ items }) => items)
  // Which of several claimants holds an account depends on the order of the writes. That one of them does, does not.
  const unmet = await coreObjects.unmetClaims(tenantId)
  const held = live.flatMap(({ attributes }) => attributes.directoryObjectId ?? [])
  assert.equal(new Set(held).size, held.length, 'An account has several holders')
  for (const { directoryObjectId } of unmet) assert.ok(held.includes(directoryObjectId), 'An account has no holder')
  const claimOf = new Map(unmet.map(({ identityId, directoryObjectId }) => [identityId, { directoryObjectId }]))
  return live
    .map(({ id, objectType, externalId, attributes }) => {
      const own = Object.entries({ ...claimOf.get(id), ...attributes })
      const told = Object.fromEntries(own.map(([each, value]) => [each, named(value)]))
      return { who: whoIs(id), objectType, externalId, attributes: told }
    })
    .sort((left, right) => (`${left.who} ${left.externalId}` < `${right.who} ${right.externalId}` ? -1 : 1))
}
