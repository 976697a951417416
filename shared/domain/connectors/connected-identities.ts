import type { Versioned } from '../../kernel/versioned.ts'
import { type ConnectorObject, type ConnectorObjectStore, type DeriveId, ownCoreObjectId } from './connector-object.ts'
import { joinKeys } from './join-keys.ts'
import type { ObjectWrite } from './object-input.ts'

type Found = Versioned<ConnectorObject>

/** Reads all identities connected to the written ones by shared join keys or core objects, directly or not. */
export async function connectedIdentities(
  tenantId: string,
  ids: readonly string[],
  writes: readonly ObjectWrite[],
  stored: readonly Found[],
  { objects, deriveId }: { readonly objects: ConnectorObjectStore; readonly deriveId: DeriveId },
): Promise<Found[]> {
  const known = new Map<string, Found>()
  const seen = new Set<string>()
  const unseen = (kind: string, values: readonly (string | undefined)[]) =>
    values.flatMap((value) => {
      if (value === undefined || seen.has(`${kind} ${value}`)) return []
      seen.add(`${kind} ${value}`)
      return [value]
    })
  const written = writes.flatMap((write, index) =>
    write.objectType === 'identity' ? [{ id: ids[index] ?? '', write }] : [],
  )
  const identities = stored.filter(({ value }) => value.objectType === 'identity')
  const keysOf = (some: readonly Found[]) => some.map(({ value }) => joinKeys(value.data))
  const coreObjectsOf = (some: readonly Found[]) =>
    some.flatMap(({ value: { id, coreObjectId } }) => [ownCoreObjectId(id, deriveId), coreObjectId])
  let keys = written.flatMap(({ write }) => (write.operation === 'delete' ? [] : [joinKeys(write.data)]))
  keys.push(...keysOf(identities))
  let coreObjectIds = written.map(({ id }) => ownCoreObjectId(id, deriveId))
  coreObjectIds.push(...coreObjectsOf(identities))
  for (;;) {
    const nins = unseen(
      'nin',
      keys.map(({ nin }) => nin),
    )
    const accounts = unseen(
      'account',
      keys.map(({ directoryObjectId }) => directoryObjectId),
    )
    const cores = unseen('core', coreObjectIds)
    if ([...nins, ...accounts, ...cores].length === 0) return [...known.values()]
    const [byKeys, byCoreObject] = await Promise.all([
      objects.identitiesByKeys(tenantId, nins, accounts),
      objects.ofCoreObjects(tenantId, cores),
    ])
    const found = [...byKeys, ...byCoreObject]
    for (const each of found) known.set(each.value.id, each)
    keys = keysOf(found)
    coreObjectIds = coreObjectsOf(found)
  }
}
