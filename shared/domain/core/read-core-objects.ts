import type { Caller } from '../caller.ts'
import { characterCount } from '../character-count.ts'
import { Refusal } from '../refusal.ts'
import type { Page } from '../versioned.ts'
import type { CoreObject, ObjectType } from './core-object.ts'
import type { CoreObjectReader } from './core-object-reader.ts'
import { type CoreObjectRecord, toCoreObjectRecord } from './core-object-record.ts'
import { idIn, sightOf } from './sight.ts'

export type CoreObjectDependencies = { readonly coreObjects: CoreObjectReader }

/** Statement, "Search". */
const SEARCH_RESULTS_COUNT = 100
const SEARCH_TEXT_LIMIT_COUNT = 200

/** A page of what the caller may see, in the order of ids. */
export async function listCoreObjects(
  objectType: ObjectType,
  after: string | undefined,
  size: number,
  caller: Caller,
  { coreObjects }: CoreObjectDependencies,
): Promise<Page<CoreObjectRecord>> {
  const ids = await (await sightOf(caller, coreObjects)).idsOf(objectType)
  const page =
    ids === 'all'
      ? await coreObjects.page(caller.tenantId, objectType, after, size)
      : await pageOfIds(ids, objectType, after, size, caller.tenantId, coreObjects)
  return { ...page, items: page.items.map(toCoreObjectRecord) }
}

/** @throws Refusal `CoreObjectNotFound`, also for what the caller may not see. */
export async function readCoreObject(
  objectType: ObjectType,
  id: string,
  caller: Caller,
  { coreObjects }: CoreObjectDependencies,
): Promise<CoreObjectRecord> {
  const [found, sight] = await Promise.all([
    coreObjects.ofIds(caller.tenantId, objectType, [id]),
    sightOf(caller, coreObjects),
  ])
  const [object] = await sight.seen(found)
  if (object === undefined) throw new Refusal('CoreObjectNotFound', `There is no ${objectType} ${id}`, 'id')
  return toCoreObjectRecord(object)
}

/**
 * The relationships of one identity or org unit, by id.
 * @throws Refusal `CoreObjectNotFound`, also when the caller may not see it.
 */
export async function readRelationshipsOf(
  end: 'identity' | 'orgUnit',
  id: string,
  caller: Caller,
  { coreObjects }: CoreObjectDependencies,
): Promise<CoreObjectRecord[]> {
  const [ends, relationships, sight] = await Promise.all([
    coreObjects.ofIds(caller.tenantId, end, [id]),
    coreObjects.relationshipsOf(caller.tenantId, end, [id]),
    sightOf(caller, coreObjects),
  ])
  if ((await sight.seen(ends)).length === 0) {
    throw new Refusal('CoreObjectNotFound', `There is no ${end} ${id}`, 'id')
  }
  return (await sight.seen(relationships)).map(toCoreObjectRecord)
}

/** Those that are found, in the order asked, each once; then, if wanted, every ancestor once. */
export async function readSeveral(
  objectType: ObjectType,
  ids: readonly string[],
  includeParents: boolean,
  caller: Caller,
  { coreObjects }: CoreObjectDependencies,
): Promise<CoreObjectRecord[]> {
  const sight = await sightOf(caller, coreObjects)
  const ordered = new Map(ids.map((id) => [id, undefined as CoreObject | undefined]))
  let level = [...ordered.keys()]
  while (level.length > 0) {
    const found = await sight.seen(await coreObjects.ofIds(caller.tenantId, objectType, level))
    const byId = new Map(found.map((object) => [object.id, object]))
    for (const id of level) ordered.set(id, byId.get(id))
    const parents = includeParents ? level.flatMap((id) => idIn(byId.get(id)?.attributes.parent)) : []
    level = [...new Set(parents)].filter((id) => !ordered.has(id))
  }
  return [...ordered.values()].filter((object) => object !== undefined).map(toCoreObjectRecord)
}

/** At most 100 of what the caller may see. @throws Refusal `InvalidLength` for a text of none or too many characters. */
export async function searchCoreObjects(
  objectType: ObjectType,
  text: string,
  caller: Caller,
  { coreObjects }: CoreObjectDependencies,
): Promise<CoreObjectRecord[]> {
  const trimmed = text.trim()
  if (trimmed === '' || characterCount(trimmed) > SEARCH_TEXT_LIMIT_COUNT) {
    throw new Refusal('InvalidLength', `text has to have 1 to ${SEARCH_TEXT_LIMIT_COUNT} characters`, 'text')
  }
  const ids = await (await sightOf(caller, coreObjects)).idsOf(objectType)
  const among = ids === 'all' ? undefined : ids
  const found = await coreObjects.search(caller.tenantId, objectType, trimmed, among, SEARCH_RESULTS_COUNT)
  return found.map(toCoreObjectRecord)
}

async function pageOfIds(
  ids: ReadonlySet<string>,
  objectType: ObjectType,
  after: string | undefined,
  size: number,
  tenantId: string,
  coreObjects: CoreObjectReader,
): Promise<Page<CoreObject>> {
  const following = [...ids].filter((id) => after === undefined || id > after).sort()
  const wanted = following.slice(0, size)
  const found = await coreObjects.ofIds(tenantId, objectType, wanted)
  const items = found.sort((one, other) => (one.id < other.id ? -1 : 1))
  const last = wanted.at(-1)
  return following.length > size && last !== undefined ? { items, continueAfter: last } : { items }
}
