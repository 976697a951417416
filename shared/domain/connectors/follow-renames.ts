import type { Connector } from './connector.ts'
import {
  type ConnectorObject,
  connectorObjectId,
  type DataValue,
  type DeriveId,
  REFERENCES,
  referenceIds,
} from './connector-object.ts'
import type { ConnectorObjectLookup, ConnectorObjectWriter } from './connector-object-store.ts'
import type { WriteDecision } from './write-decision.ts'

type RenameDependencies = {
  readonly objects: Pick<ConnectorObjectLookup, 'referringTo'> & Pick<ConnectorObjectWriter, 'write'>
  readonly deriveId: DeriveId
}

const MAX_ATTEMPTS = 12

/**
 * Rewrites the references of a connector's objects to former names. Until then, and after an interruption, these lead to
 * the renamed objects as well. A reference that a concurrent write has replaced stays as that write left it.
 */
export async function followRenames(
  tenantId: string,
  { id: connectorId, softDeletionDays }: Connector,
  decisions: readonly WriteDecision[],
  { objects, deriveId }: RenameDependencies,
): Promise<void> {
  const renamed = decisions.flatMap((decision) => decision.renamed ?? [])
  for (const [objectType, ofType] of Map.groupBy(renamed, (object) => object.objectType)) {
    const names = new Map(ofType.map(({ formerId, externalId }) => [formerId, externalId]))
    for (let attempt = 0; ; attempt += 1) {
      const referring = await objects.referringTo(tenantId, objectType, [...names.keys()])
      if (referring.length === 0) break
      if (attempt === MAX_ATTEMPTS) throw new Error(`${referring.length} objects kept changing during a renaming`)
      const writes = referring.map(({ value: { lastUpdatedS: _written, ...object }, version }) => {
        return { object: withNames(object, names, deriveId), version }
      })
      await objects.write({ tenantId, connectorId, softDeletionDays, isDelivery: true }, writes)
    }
  }
}

/** @param names The present external ids by former connector object ids. */
function withNames(object: ConnectorObject, names: ReadonlyMap<string, string>, derive: DeriveId): ConnectorObject {
  const { connectorId, objectType } = object
  const data = { ...object.data }
  for (const { name, to } of REFERENCES.filter(({ of }) => of === objectType)) {
    const value = data[name] as { externalId: string } | readonly { externalId: string }[] | undefined
    if (value === undefined) continue
    const present = ({ externalId }: { externalId: string }) => ({
      externalId: names.get(connectorObjectId({ connectorId, objectType: to, externalId }, derive)) ?? externalId,
    })
    data[name] = ('externalId' in value ? present(value) : value.map(present)) as DataValue
  }
  return { ...object, data, references: referenceIds(object, data, derive) }
}
