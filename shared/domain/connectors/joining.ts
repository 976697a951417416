import type { ConnectorObject, ObjectData } from './connector-object.ts'

/** Where a connector stands in the order of creation: 0 is the oldest. */
export type RankOf = (connectorId: string) => number

/** What becomes of an identity's membership in a core object. */
export type Joining =
  /** It is part of this core object from now on. */
  | { readonly outcome: 'join'; readonly coreObjectId: string }
  /** It stays where it is, and these others come to it. */
  | { readonly outcome: 'gather'; readonly others: readonly ConnectorObject[] }
  /** It stays where it is. */
  | { readonly outcome: 'stay' }
  /** It matches nobody, and needs a core object of its own. */
  | { readonly outcome: 'alone' }

export type JoinKeys = { readonly nin: string | undefined; readonly directoryObjectId: string | undefined }

export function joinKeys(data: ObjectData): JoinKeys {
  const { nin, directoryObjectId } = data as { nin?: string; directoryObjectId?: string }
  return { nin, directoryObjectId }
}

/**
 * Decides to which core object a written identity belongs. Objects of different connectors join on `nin`, else on
 * `directoryObjectId` (decisions, section 4): two different `nin` are two people, whatever their accounts.
 * When two that already have core objects turn out to be one, the core object of the connector created first stays.
 * @param current Its core object until now; undefined for a new one.
 * @param others Live identities of other connectors.
 * @param isShared Whether other live objects contribute to `current`.
 */
export function decideJoining(
  object: Pick<ConnectorObject, 'connectorId' | 'data'>,
  current: string | undefined,
  others: readonly ConnectorObject[],
  isShared: boolean,
  rankOf: RankOf,
): Joining {
  const matching = matches(object, others, rankOf)
  const [best] = matching
  if (best === undefined) return current === undefined || isShared ? { outcome: 'alone' } : { outcome: 'stay' }
  if (current === undefined) return { outcome: 'join', coreObjectId: best.coreObjectId }
  if (matching.some(({ coreObjectId }) => coreObjectId === current)) return { outcome: 'stay' }
  if (isShared || rankOf(best.connectorId) < rankOf(object.connectorId)) {
    return { outcome: 'join', coreObjectId: best.coreObjectId }
  }
  return { outcome: 'gather', others: matching.filter(({ coreObjectId }) => coreObjectId === best.coreObjectId) }
}

/** Those that are the same person: by `nin` if there are any, the oldest connector's first. */
function matches(
  object: Pick<ConnectorObject, 'connectorId' | 'data'>,
  others: readonly ConnectorObject[],
  rankOf: RankOf,
): ConnectorObject[] {
  const own = joinKeys(object.data)
  const foreign = others
    .filter(({ connectorId }) => connectorId !== object.connectorId)
    .sort((one, other) => rankOf(one.connectorId) - rankOf(other.connectorId) || (one.id < other.id ? -1 : 1))
  const byNin = foreign.filter(({ data }) => own.nin !== undefined && joinKeys(data).nin === own.nin)
  if (byNin.length > 0) return byNin
  return foreign.filter(({ data }) => {
    const { nin, directoryObjectId } = joinKeys(data)
    const isOneAccount = own.directoryObjectId !== undefined && directoryObjectId === own.directoryObjectId
    return isOneAccount && (own.nin === undefined || nin === undefined)
  })
}
