import { byCreation, type Connector } from './connector.ts'

/** What joining and merging take into account of the connectors. */
export type ConnectorRules = {
  /** Returns a connector's position in the order of creation, 0 for the oldest. */
  rankOf(connectorId: string): number
  /** Whether the `directoryObjectId` of a connector's identities counts. */
  bindsAccounts(connectorId: string): boolean
}

/** Returns the rules by which the tenant's connectors contribute. */
export function rulesOf(connectors: readonly Connector[]): ConnectorRules {
  const ranks = new Map(connectors.toSorted(byCreation).map(({ id }, rank) => [id, rank]))
  const unbound = new Set(connectors.flatMap(({ id, bindsAccounts }) => (bindsAccounts ? [] : [id])))
  return {
    rankOf: (connectorId) => ranks.get(connectorId) ?? Number.MAX_SAFE_INTEGER,
    bindsAccounts: (connectorId) => !unbound.has(connectorId),
  }
}
