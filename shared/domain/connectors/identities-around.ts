import type { Versioned } from '../../kernel/versioned.ts'
import type { ObjectWrite } from './batch-item.ts'
import { type ConnectorObject, type DeriveId, ownCoreObjectId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { joinKeys } from './joining.ts'

type Found = Versioned<ConnectorObject>

/** All that share a key or a core object with the written identities, and with those, until there are no more. */
export async function identitiesAround(
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
  let keys = written.flatMap(({ write }) => (write.operation === 'delete' ? [] : [joinKeys(write.data)]))
  let coreObjectIds = written.map(({ id }) => ownCoreObjectId(id, deriveId))
  let latest = stored.filter(({ value }) => value.objectType === 'identity')
  for (;;) {
    keys = [...keys, ...latest.map(({ value }) => joinKeys(value.data))]
    coreObjectIds = latest
      .flatMap(({ value: { id, coreObjectId } }) => [ownCoreObjectId(id, deriveId), coreObjectId])
      .concat(coreObjectIds)
    const nins = unseen(
      'nin',
      keys.map(({ nin }) => nin),
    )
    const accounts = unseen(
      'account',
      keys.map(({ directoryObjectId }) => directoryObjectId),
    )
    const [sharingKeys, mates] = await Promise.all([
      objects.identitiesByKeys(tenantId, nins, accounts),
      objects.ofCoreObjects(tenantId, unseen('core', coreObjectIds)),
    ])
    latest = [...sharingKeys, ...mates].filter(({ value }) => !known.has(value.id))
    if (latest.length === 0) return [...known.values()]
    for (const each of latest) known.set(each.value.id, each)
    keys = []
    coreObjectIds = []
  }
}
