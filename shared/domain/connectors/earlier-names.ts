import { chunk } from '../../kernel/chunk.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore, FormerNameWrite } from './connector-object-store.ts'

type StoredNames = ReadonlyMap<string, Versioned<ConnectorObject>>

/** Names that follow a renaming, the latest ones. They are written in one transaction with the object. */
const MAX_FOLLOWING_COUNT = 20
const IDS_PER_READ_COUNT = 1000

/**
 * Reads what is left under the names that objects had before the ones that they lose now.
 * @param found The objects that the items of a batch name, by new and by former names.
 * @param formerIds Those of former names.
 */
export async function readEarlierNames(
  tenantId: string,
  found: readonly Versioned<ConnectorObject>[],
  formerIds: readonly string[],
  objects: Pick<ConnectorObjectStore, 'ofIds'>,
): Promise<StoredNames> {
  const renamed = new Set(formerIds)
  // An item decides on what it names itself.
  const named = new Set(found.map(({ value }) => value.id))
  const ids = new Set(
    found.flatMap(({ value }) => (renamed.has(value.id) ? (value.formerIds ?? []).slice(-MAX_FOLLOWING_COUNT) : [])),
  ).difference(named)
  const names = new Map<string, Versioned<ConnectorObject>>()
  for (const some of chunk([...ids], IDS_PER_READ_COUNT)) {
    for (const name of await objects.ofIds(tenantId, some)) names.set(name.value.id, name)
  }
  return names
}

/**
 * Leads the earlier names of an object to its new name. Otherwise they lead to the object that gets the former name.
 * @param before The object under its former name.
 */
export function earlierNamesTo(id: string, before: ConnectorObject, names: StoredNames): FormerNameWrite | undefined {
  const leads = (renamedTo: string | undefined): boolean =>
    renamedTo === before.id || (renamedTo !== undefined && leads(names.get(renamedTo)?.value.renamedTo))
  return [...new Set(before.formerIds)].reduce<FormerNameWrite | undefined>((formerName, earlierId) => {
    const earlier = names.get(earlierId)
    if (earlier === undefined || !leads(earlier.value.renamedTo)) return formerName
    const object = { ...earlier.value, renamedTo: id }
    return { object, version: earlier.version, ...(formerName && { formerName }) }
  }, undefined)
}
