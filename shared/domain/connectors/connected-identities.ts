import type { Versioned } from '../../kernel/versioned.ts'
import { type DeriveId, ownCoreObjectId, type StoredConnectorObject } from './connector-object.ts'
import type { ConnectorObjectLookup } from './connector-object-store.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { type JoinKeyValue, soughtKeyValues } from './join-keys.ts'
import type { ObjectWrite } from './object-input.ts'

type Found = Versioned<StoredConnectorObject>

/** Reads all identities connected to the written ones by shared join keys or core objects, directly or not. */
export async function connectedIdentities(
  tenantId: string,
  ids: readonly string[],
  writes: readonly ObjectWrite[],
  stored: readonly Found[],
  rules: ConnectorRules,
  { objects, deriveId }: { readonly objects: ConnectorObjectLookup; readonly deriveId: DeriveId },
): Promise<Found[]> {
  const known = new Map<string, Found>()
  const seen = new Set<string>()
  const unseen = (kind: string, values: readonly string[]) =>
    values.flatMap((value) => {
      if (seen.has(`${kind} ${value}`)) return []
      seen.add(`${kind} ${value}`)
      return [value]
    })
  const written = writes.flatMap((write, index) =>
    write.objectType === 'identity' ? [{ id: ids[index] ?? '', write }] : [],
  )
  const identities = stored.filter(({ value }) => value.objectType === 'identity')
  const keysOf = (objects: readonly Found[]) => objects.flatMap(({ value }) => soughtKeyValues(value.data, rules))
  const coreObjectsOf = (objects: readonly Found[]) =>
    objects.flatMap(({ value: { id, coreObjectId } }) => [ownCoreObjectId(id, deriveId), coreObjectId])
  let keys = written.flatMap(({ write }) => (write.operation === 'delete' ? [] : soughtKeyValues(write.data, rules)))
  keys.push(...keysOf(identities))
  let coreObjectIds = written.map(({ id }) => ownCoreObjectId(id, deriveId))
  coreObjectIds.push(...coreObjectsOf(identities))
  for (;;) {
    const soughtKeys = unseenKeys(keys, unseen)
    const cores = unseen('core', coreObjectIds)
    if (soughtKeys.size === 0 && cores.length === 0) return [...known.values()]
    const [byKeys, byCoreObject] = await Promise.all([
      objects.identitiesByKeys(tenantId, soughtKeys),
      objects.ofCoreObjects(tenantId, cores),
    ])
    const found = [...byKeys, ...byCoreObject]
    for (const object of found) known.set(object.value.id, object)
    keys = keysOf(found)
    coreObjectIds = coreObjectsOf(found)
  }
}

/** The values not asked for yet, by join key, without keys that have none. */
function unseenKeys(
  keys: readonly JoinKeyValue[],
  unseen: (kind: string, values: readonly string[]) => string[],
): ReadonlyMap<string, readonly string[]> {
  const byKey = Map.groupBy(keys, ({ key }) => key)
  return new Map(
    [...byKey].flatMap(([key, texts]) => {
      const values = unseen(
        `key ${key}`,
        texts.map(({ value }) => value),
      )
      return values.length === 0 ? [] : [[key, values] as const]
    }),
  )
}
