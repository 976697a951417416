import type { ConnectorObject, ConnectorObjectStore } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import type { Contribution, MergedCoreObject } from './merged-core-object.ts'

/** A live contributor of a core object, with what it contributes. */
type LiveContribution = { readonly object: ConnectorObject; readonly contribution: Contribution }

type ContributionReader = Pick<ConnectorObjectStore, 'ofIds' | 'ofCoreObjects' | 'referenceTargets'>

/** Returns the live contributions by core object, those of the oldest connector first. */
export async function liveContributions(
  tenantId: string,
  coreObjectIds: readonly string[],
  rules: ConnectorRules,
  objects: ContributionReader,
): Promise<ReadonlyMap<string, readonly LiveContribution[]>> {
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const live = found.map(({ value }) => value).filter(({ deletedAtMs }) => deletedAtMs === undefined)
  live.sort(
    (one, other) => rules.rankOf(one.connectorId) - rules.rankOf(other.connectorId) || (one.id < other.id ? -1 : 1),
  )
  const coreObjectOf = await coreObjectResolver(tenantId, live, objects)
  const contributions = live.map((object) => ({ object, contribution: contributionOf(object, rules, coreObjectOf) }))
  return Map.groupBy(contributions, ({ object }) => object.coreObjectId)
}

type CoreObjectOf = (connectorObjectId: string) => string | undefined

async function coreObjectResolver(
  tenantId: string,
  contributors: readonly ConnectorObject[],
  objects: ContributionReader,
): Promise<CoreObjectOf> {
  const ids = new Set(contributors.flatMap(({ references }) => Object.values(references).flat()))
  const targets = await objects.referenceTargets(tenantId, [...ids])
  const live = new Map(targets.filter(({ isLive }) => isLive).map(({ id, coreObjectId }) => [id, coreObjectId]))
  return (id) => live.get(id)
}

function contributionOf(object: ConnectorObject, rules: ConnectorRules, coreObjectOf: CoreObjectOf): Contribution {
  const { id, connectorId, objectType, externalId, references } = object
  const isUnbound = objectType === 'identity' && !rules.bindsAccounts(connectorId)
  const data = isUnbound ? withoutAccount(object.data) : object.data
  const referred = (name: string): readonly string[] => [references[name] ?? []].flat()
  const resolve = (name: string) => referred(name).flatMap((target) => coreObjectOf(target) ?? [])
  return { connectorObjectId: id, objectType, externalId, data, resolve }
}

function withoutAccount({ directoryObjectId: _ignored, ...data }: ConnectorObject['data']): ConnectorObject['data'] {
  return data
}

/** Returns the core objects to which the former contributors of others have moved, by the id of the other. */
export async function movedContributors(
  tenantId: string,
  left: readonly MergedCoreObject[],
  objects: ContributionReader,
): Promise<ReadonlyMap<string, string>> {
  const identities = left.filter(({ objectType }) => objectType === 'identity')
  if (identities.length === 0) return new Map()
  const named = identities.flatMap(({ contributors }) => contributors)
  const live = (await objects.ofIds(tenantId, named))
    .map(({ value }) => value)
    .filter(({ deletedAtMs }) => deletedAtMs === undefined)
  const coreObjectOf = new Map(live.map(({ id, coreObjectId }) => [id, coreObjectId]))
  return new Map(
    identities.flatMap(({ id, contributors }) => {
      const successor = contributors.map((contributor) => coreObjectOf.get(contributor)).find((at) => at !== undefined)
      return successor === undefined || successor === id ? [] : [[id, successor] as const]
    }),
  )
}
