import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import type { CoreObjectReader } from '../core/core-object-store.ts'
import { asTyped } from '../core/custom-types.ts'
import { customTypesOf } from './attribute-types.ts'
import type { ConnectorStore } from './connector.ts'
import { ExternalId } from './connector-object.ts'
import type { ConnectorObjectLookup } from './connector-object-store.ts'
import { rulesOf } from './connector-rules.ts'
import { assignedContributions } from './contributions.ts'
import { joins } from './join-keys.ts'
import { mergedCoreObject } from './merged-core-object.ts'

/** What one connector says of an identity. */
export const IdentitySource = Closed({
  connectorId: Guid,
  connectorName: Type.String(),
  externalId: ExternalId,
  attributes: Described(
    Type.Record(Type.String(), Type.Unknown()),
    'The attributes as the connector sent them, by name. References name external ids of the same connector.',
  ),
  joinedBy: Described(
    Nullable(Type.String()),
    'The join key that makes it one person with a source listed before it; null for the first, and for one that joined ' +
      'through a later source.',
  ),
  used: Described(
    Type.Array(Type.String()),
    'The names of those attributes whose values the identity has from this connector, in alphabetical order.',
  ),
})
export type IdentitySource = Static<typeof IdentitySource>

export type SourceDependencies = {
  readonly coreObjects: CoreObjectReader
  readonly connectors: ConnectorStore
  readonly objects: ConnectorObjectLookup
}

/**
 * Lists what each connector says of an identity, the oldest connector first.
 * @throws Refusal `CoreObjectNotFound`.
 */
export async function readSources(
  tenantId: string,
  identityId: string,
  { coreObjects, connectors, objects }: SourceDependencies,
): Promise<IdentitySource[]> {
  const [identity, all] = await Promise.all([
    coreObjects.find(tenantId, 'identity', identityId),
    connectors.list(tenantId),
  ])
  if (identity === undefined) throw new Refusal('CoreObjectNotFound', `There is no identity ${identityId}`, 'id')
  const rules = rulesOf(all)
  const types = customTypesOf(all)
  const { live: contributions } = await assignedContributions(tenantId, [identityId], rules, objects)
  const names = new Map(all.map(({ id, name }) => [id, name]))
  // An account that another identity holds is in no attributes, whichever connector names it.
  const taken = new Set<string>(Object.keys(identity.attributes))
  const sources = contributions.get(identityId) ?? []
  return sources.map(({ object, contribution }, index) => {
    const earlier = sources.slice(0, index).map((source) => source.object)
    const merged = mergedCoreObject(identityId, [contribution])
    const used = Object.keys(merged.attributes).filter((name) => taken.delete(name))
    const { connectorId, externalId, data } = object
    const joinedBy = rules.joinKeys.find((key) => earlier.some((other) => joins(object, other, key, rules))) ?? null
    return {
      connectorId,
      connectorName: names.get(connectorId) ?? '',
      externalId,
      attributes: asTyped('identity', data, types),
      used: used.sort(),
      joinedBy,
    }
  })
}
