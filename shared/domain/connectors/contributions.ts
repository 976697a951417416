import type { ConnectorObject, StoredConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore, ReferenceTarget } from './connector-object-store.ts'
import type { ConnectorRules } from './connector-rules.ts'
import type { Contribution, MergedCoreObject } from './merged-core-object.ts'
import { type PlacedReference, unresolvedReferences } from './unresolved-references.ts'

/** A live contributor of a core object, with what it contributes. */
type LiveContribution = {
  readonly object: ConnectorObject
  readonly contribution: Contribution
  readonly unresolved: readonly PlacedReference[]
}

/** What is assigned to core objects, by their ids. */
type AssignedContributions = {
  readonly live: ReadonlyMap<string, readonly LiveContribution[]>
  /** Ids of deleted identities. */
  readonly deleted: ReadonlyMap<string, ReadonlySet<string>>
  /** Until when the last of the deleted objects that carried them can be restored, in seconds since 1970. */
  readonly restorableUntilS: ReadonlyMap<string, number>
}

type ContributionReader = Pick<ConnectorObjectStore, 'ofIds' | 'ofCoreObjects' | 'referenceTargets'>

/**
 * Returns the live contributions by core object, in the order in which they take precedence. Supplementing connectors
 * contribute to identities that others carry, and to nothing else.
 */
export async function assignedContributions(
  tenantId: string,
  coreObjectIds: readonly string[],
  rules: ConnectorRules,
  objects: ContributionReader,
): Promise<AssignedContributions> {
  const found = (await objects.ofCoreObjects(tenantId, coreObjectIds)).map(({ value }) => value)
  const existing = found.filter(isLive)
  const deleted = found.filter((object) => !isLive(object) && object.objectType === 'identity')
  const carried = new Set(
    existing.flatMap(({ connectorId, coreObjectId }) => (rules.supplements(connectorId) ? [] : [coreObjectId])),
  )
  const live = existing.filter(
    ({ connectorId, objectType, coreObjectId }) =>
      !rules.supplements(connectorId) || (objectType === 'identity' && carried.has(coreObjectId)),
  )
  live.sort(
    (left, right) => rules.rankOf(left.connectorId) - rules.rankOf(right.connectorId) || (left.id < right.id ? -1 : 1),
  )
  const targetOf = await targetResolver(tenantId, live, objects)
  const contributions = live.map((object) => ({
    object,
    contribution: contributionOf(object, rules, (id) => targetOf(id).coreObjectId),
    unresolved: rules.supplements(object.connectorId) ? [] : unresolvedReferences(object, targetOf),
  }))
  const idsOf = (objects: readonly ConnectorObject[]) => new Set(objects.map(({ id }) => id))
  return {
    live: Map.groupBy(contributions, ({ object }) => object.coreObjectId),
    deleted: new Map(
      [...Map.groupBy(deleted, ({ coreObjectId }) => coreObjectId)].map(([id, objects]) => [id, idsOf(objects)]),
    ),
    restorableUntilS: latestExpiries(found.filter(({ connectorId }) => !rules.supplements(connectorId))),
  }
}

/** By core object. */
function latestExpiries(objects: readonly StoredConnectorObject[]): Map<string, number> {
  const latestS = new Map<string, number>()
  for (const { coreObjectId, expiresAtS = 0 } of objects) {
    latestS.set(coreObjectId, Math.max(expiresAtS, latestS.get(coreObjectId) ?? 0))
  }
  return latestS
}

type CoreObjectOf = (connectorObjectId: string) => string | undefined

async function targetResolver(
  tenantId: string,
  contributors: readonly ConnectorObject[],
  objects: ContributionReader,
): Promise<(id: string) => { readonly coreObjectId: string | undefined; readonly isDeleted: boolean }> {
  const found = new Map<string, ReferenceTarget>()
  let ids = new Set(contributors.flatMap(({ references }) => Object.values(references).flat()))
  // References to a former name lead to the object that had it.
  while (ids.size > 0) {
    const targets = await objects.referenceTargets(tenantId, [...ids])
    for (const target of targets) found.set(target.id, target)
    ids = new Set(
      targets.flatMap(({ renamedTo = '' }) => (renamedTo === '' || found.has(renamedTo) ? [] : [renamedTo])),
    )
  }
  return (id) => {
    let target = found.get(id)
    while (target?.renamedTo !== undefined) target = found.get(target.renamedTo)
    return {
      coreObjectId: target?.isLive ? target.coreObjectId : undefined,
      isDeleted: target !== undefined && !target.isLive,
    }
  }
}

function contributionOf(object: ConnectorObject, rules: ConnectorRules, coreObjectOf: CoreObjectOf): Contribution {
  const { id, connectorId, objectType, externalId, references } = object
  const isUnbound = objectType === 'identity' && !rules.bindsAccounts(connectorId)
  const bound = isUnbound ? withoutAccount(object.data) : object.data
  const data = rules.supplements(connectorId) ? withoutPosition(bound) : bound
  const referred = (name: string): readonly string[] => [references[name] ?? []].flat()
  const resolve = (name: string) => referred(name).flatMap((target) => coreObjectOf(target) ?? [])
  return { connectorObjectId: id, objectType, externalId, data, resolve }
}

function withoutAccount({ directoryObjectId: _ignored, ...data }: ConnectorObject['data']): ConnectorObject['data'] {
  return data
}

function withoutPosition({ primaryRelationship: _ignored, ...data }: ConnectorObject['data']): ConnectorObject['data'] {
  return data
}

/** Returns the contributors that live identities have lost since they were written, as far as these are stored. */
export async function formerContributors(
  tenantId: string,
  stored: readonly MergedCoreObject[],
  live: ReadonlyMap<string, readonly LiveContribution[]>,
  objects: ContributionReader,
): Promise<ReadonlyMap<string, ConnectorObject>> {
  const ids = stored.flatMap(({ id, objectType, deleted, contributors }) => {
    if (deleted || objectType !== 'identity') return []
    const present = new Set((live.get(id) ?? []).map(({ object }) => object.id))
    return contributors.filter((contributor) => !present.has(contributor))
  })
  if (ids.length === 0) return new Map()
  return new Map((await objects.ofIds(tenantId, ids)).map(({ value }) => [value.id, value]))
}

/**
 * Returns the core objects to which the former contributors of others have moved, by the id of the other.
 * @param left Core objects without live contributions.
 */
export function movedContributors(
  left: readonly MergedCoreObject[],
  former: ReadonlyMap<string, ConnectorObject>,
  rules: ConnectorRules,
): ReadonlyMap<string, string> {
  const isCarrier = (object: ConnectorObject): boolean => isLive(object) && !rules.supplements(object.connectorId)
  return new Map(
    left.flatMap(({ id, contributors }) => {
      const known = contributors.flatMap((contributor) => former.get(contributor) ?? [])
      const mergedInto =
        known.find(isCarrier)?.coreObjectId ?? known.find(({ continuedIn }) => continuedIn)?.continuedIn
      return mergedInto === undefined || mergedInto === id ? [] : [[id, mergedInto] as const]
    }),
  )
}

const isLive = ({ deletedAtMs }: ConnectorObject): boolean => deletedAtMs === undefined
