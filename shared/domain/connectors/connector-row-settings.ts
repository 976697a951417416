import { LEAST_KEPT_DELETIONS, type RowSettings } from '../tenant-index/row-settings.ts'
import { customTypesOf } from './attribute-types.ts'
import type { Connector } from './connector.ts'

/** What the connectors of a tenant decide of its rows. @param connectors Oldest first. */
export function connectorRowSettings(connectors: readonly Connector[]): Omit<RowSettings, 'zone'> {
  const types = customTypesOf(connectors)
  if (connectors.length === 0) return { types, deletions: LEAST_KEPT_DELETIONS }
  const keptDays = Math.min(...connectors.map(({ softDeletionDays }) => softDeletionDays))
  const changes = connectors.map(({ id, updatedAt }) => `${id} ${updatedAt}`)
  return { types, deletions: { keptDays, connectors: changes.join() } }
}
