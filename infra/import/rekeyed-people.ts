import type { SpaceItem, SpaceObject } from './connector-space.ts'
import { holderOf, personKeysOf } from './person-keys.ts'

/**
 * Marks the items of each person who is in the files under another external id: the new identity, its positions, and
 * the deletion of the former identity. One batch is to bring them all: between two, the service would know two people,
 * and one of them would not be in the groups. Whether they are one, the service decides.
 * @param missing Objects of the connector that are deleted.
 */
export function withPeople<T extends { readonly item: SpaceItem; readonly round: number }>(
  items: readonly T[],
  missing: readonly SpaceObject[],
): (T & { readonly person?: string })[] {
  const formerByKey = new Map(missing.flatMap(({ externalId, keys }) => keys.map((key) => [key, externalId] as const)))
  const formerOf = new Map<string, string>()
  for (const { item, round } of items) {
    if (item.op === 'delete' || round > 0) continue
    const key = personKeysOf(item.objectType, item.data).find((candidate) => formerByKey.has(candidate))
    if (key !== undefined) formerOf.set(item.externalId, formerByKey.get(key) as string)
  }
  const formers = new Set(formerOf.values())
  return items.map((planned) => {
    const { item, round } = planned
    const isFormer = item.op === 'delete' && item.objectType === 'identity' && formers.has(item.externalId)
    const person = isFormer ? item.externalId : round > 0 ? undefined : formerOf.get(identityOf(item) ?? '')
    return person === undefined ? planned : { ...planned, person }
  })
}

/** The external id of the identity that an item writes, or gives a position. */
function identityOf({ op, objectType, externalId, data }: SpaceItem): string | undefined {
  if (op === 'delete') return undefined
  if (objectType === 'identity') return externalId
  return holderOf(objectType, data)
}
