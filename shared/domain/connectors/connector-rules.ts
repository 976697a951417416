import { type CustomType, customTypeOf, isCustomAttribute } from '../core/custom-types.ts'
import { customTypesOf } from './attribute-types.ts'
import { byCreation, type Connector } from './connector.ts'

/** What joining and merging take into account of the connectors. */
export type ConnectorRules = {
  /**
   * Returns a connector's position in the order in which attributes take precedence, 0 for the first: connectors of
   * full authority by age, then the supplementing ones by age.
   */
  rankOf(connectorId: string): number
  /** Whether the connector assigns directory accounts to its identities. */
  bindsAccounts(connectorId: string): boolean
  /** Whether the connector only adds attributes to identities that others carry. */
  supplements(connectorId: string): boolean
  /** Whether the connector lists this join key. */
  joinsOn(connectorId: string, key: string): boolean
  /** Whether identities are found by this join key, so that it can join them: all have it stored. */
  findsBy(key: string): boolean
  /** The type by which the values of this join key compare. */
  typeOf(key: string): CustomType
  /** The join keys of all connectors, in the order in which they decide. */
  readonly joinKeys: readonly string[]
}

/** Returns the rules by which the tenant's connectors contribute. @param connectors Oldest first. */
export function rulesOf(connectors: readonly Connector[]): ConnectorRules {
  const ordered = connectors.toSorted(
    (left, right) => Number(isSupplement(left)) - Number(isSupplement(right)) || byCreation(left, right),
  )
  const ranks = new Map(ordered.map(({ id }, rank) => [id, rank]))
  const supplementing = new Set(connectors.filter(isSupplement).map(({ id }) => id))
  const unbound = new Set(connectors.flatMap(({ id, bindsAccounts }) => (bindsAccounts ? [] : [id])))
  const listed = new Map(connectors.map(({ id, joinOn }) => [id, new Set<string>(joinOn)]))
  const joinKeys = [...new Set(ordered.flatMap(({ joinOn }) => joinOn))]
  const customKeys = joinKeys.filter(isCustomAttribute)
  const types = customTypesOf(customKeys.length === 0 ? [] : connectors)
  const typed = new Map(customKeys.map((key) => [key, customTypeOf(types, 'identity', key)]))
  const pending = new Set(connectors.flatMap(({ keysPendingSinceMs = {} }) => Object.keys(keysPendingSinceMs)))
  return {
    rankOf: (connectorId) => ranks.get(connectorId) ?? Number.MAX_SAFE_INTEGER,
    bindsAccounts: (connectorId) => !unbound.has(connectorId) && !supplementing.has(connectorId),
    supplements: (connectorId) => supplementing.has(connectorId),
    joinsOn: (connectorId, key) => listed.get(connectorId)?.has(key) === true,
    findsBy: (key) => !pending.has(key),
    typeOf: (key) => typed.get(key) ?? 'String',
    joinKeys,
  }
}

const isSupplement = ({ authority }: Connector): boolean => authority === 'Supplement'
