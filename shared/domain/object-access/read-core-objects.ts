import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import { type Page, pageFrom } from '../../kernel/versioned.ts'
import type { CoreObject, ObjectType } from '../core/core-object.ts'
import { type CoreObjectDto, toCoreObjectDto } from '../core/core-object-dto.ts'
import type { CoreObjectReader, MissingAttribute, SearchScope } from '../core/core-object-store.ts'
import type { RowSettingsSource } from '../tenant-index/row-settings.ts'
import { canRead, type ObjectAccess, type ObjectAccessResolver } from './object-access.ts'
import type { VisibleObjects } from './visible-objects.ts'

export type CoreObjectDependencies = {
  readonly coreObjects: CoreObjectReader
  readonly objectAccess: ObjectAccessResolver
  /** By which values of custom attributes are read. */
  readonly rowSettings: RowSettingsSource
}

/** Matches that a search returns, and characters that it accepts. */
const SEARCH_RESULTS_COUNT = 100
const SEARCH_TEXT_LIMIT_COUNT = 200

/** What users do not read of other people. */
const PRIVATE_ATTRIBUTES: ReadonlySet<string> = new Set(['nin', 'privateMobile', 'privateEmail'])

/** What a caller may read, and how. */
type Reader = { readonly access: ObjectAccess; readonly dtoOf: (object: CoreObject) => CoreObjectDto }

async function readerOf(
  caller: Caller,
  { objectAccess, rowSettings }: Pick<CoreObjectDependencies, 'objectAccess' | 'rowSettings'>,
): Promise<Reader> {
  const [access, { types }] = await Promise.all([objectAccess.of(caller), rowSettings.of(caller.tenantId)])
  const dtoOf = (object: CoreObject): CoreObjectDto => {
    const dto = toCoreObjectDto(object, types)
    if (access === 'all' || object.objectType !== 'identity' || isOwn(object, caller)) return dto
    return Object.fromEntries(Object.entries(dto).filter(([name]) => !PRIVATE_ATTRIBUTES.has(name))) as CoreObjectDto
  }
  return { access, dtoOf }
}

function isOwn({ attributes }: CoreObject, { objectId }: Caller): boolean {
  return attributes.directoryObjectId === objectId
}

/** A page of the objects that the caller may read, by id. @param missing Only objects without this attribute. */
export async function listCoreObjects(
  objectType: ObjectType,
  after: string | undefined,
  size: number,
  caller: Caller,
  { coreObjects, ...readers }: CoreObjectDependencies,
  missing?: MissingAttribute,
): Promise<Page<CoreObjectDto>> {
  const { access, dtoOf } = await readerOf(caller, readers)
  const page =
    access === 'all'
      ? await coreObjects.page(caller.tenantId, objectType, after, size, missing)
      : await visiblePage(access, objectType, after, size, caller.tenantId, coreObjects)
  const wanted =
    missing === undefined ? page.items : page.items.filter(({ attributes }) => attributes[missing] === undefined)
  return { ...page, items: wanted.map(dtoOf) }
}

/** @throws Refusal `CoreObjectNotFound`, also for an object that the caller may not read. */
export async function readCoreObject(
  objectType: ObjectType,
  id: string,
  caller: Caller,
  { coreObjects, ...readers }: CoreObjectDependencies,
): Promise<CoreObjectDto> {
  const [object, { access, dtoOf }] = await Promise.all([
    coreObjects.find(caller.tenantId, objectType, id),
    readerOf(caller, readers),
  ])
  if (object === undefined || !canRead(access, object))
    throw new Refusal('CoreObjectNotFound', `There is no ${objectType} ${id}`, 'id')
  return dtoOf(object)
}

/**
 * The relationships of one identity or org unit, by id.
 * @throws Refusal `CoreObjectNotFound`, also when the caller may not read it.
 */
export async function readRelationshipsOf(
  end: 'identity' | 'orgUnit',
  id: string,
  caller: Caller,
  { coreObjects, ...readers }: CoreObjectDependencies,
): Promise<CoreObjectDto[]> {
  const [object, relationships, { access, dtoOf }] = await Promise.all([
    coreObjects.find(caller.tenantId, end, id),
    coreObjects.relationshipsOf(caller.tenantId, end, [id]),
    readerOf(caller, readers),
  ])
  if (object === undefined || !canRead(access, object)) {
    throw new Refusal('CoreObjectNotFound', `There is no ${end} ${id}`, 'id')
  }
  return relationships.filter((relationship) => canRead(access, relationship)).map(dtoOf)
}

/**
 * The objects that exist and that the caller may read, in the order of `ids`, each once; with `includeParents` followed
 * by every ancestor, each once. Ancestors are included also above a unit that the caller may not read.
 */
export async function readSeveral(
  objectType: ObjectType,
  ids: readonly string[],
  includeParents: boolean,
  caller: Caller,
  { coreObjects, ...readers }: CoreObjectDependencies,
): Promise<CoreObjectDto[]> {
  const read = new Map<string, CoreObject>()
  const readMore = async (wanted: readonly string[]) => {
    const unread = wanted.filter((id) => !read.has(id))
    for (const object of await coreObjects.ofIds(caller.tenantId, objectType, unread)) read.set(object.id, object)
  }
  const [{ access, dtoOf }] = await Promise.all([readerOf(caller, readers), readMore(ids)])
  const visibleOf = (id: string): CoreObject[] => {
    const object = read.get(id)
    return object !== undefined && canRead(access, object) ? [object] : []
  }
  const visibleIds = new Set(ids.filter((id) => visibleOf(id).length > 0))
  let level: readonly string[] = includeParents ? [...visibleIds] : []
  while (level.length > 0) {
    const parents = new Set(level.flatMap((id) => idIn(read.get(id)?.attributes.parent)))
    level = [...parents.difference(visibleIds)]
    await readMore(level)
    for (const id of level) visibleIds.add(id)
  }
  return [...visibleIds].flatMap(visibleOf).map(dtoOf)
}

/**
 * At most 100 objects that the caller may read.
 * @throws Refusal `InvalidLength` for an empty text or one with too many characters.
 */
export async function searchCoreObjects(
  objectType: ObjectType,
  text: string,
  caller: Caller,
  { coreObjects, ...readers }: CoreObjectDependencies,
): Promise<CoreObjectDto[]> {
  const trimmed = text.trim()
  if (trimmed === '' || characterCount(trimmed) > SEARCH_TEXT_LIMIT_COUNT) {
    throw new Refusal('InvalidLength', `text must have 1 to ${SEARCH_TEXT_LIMIT_COUNT} characters`, 'text')
  }
  const { access, dtoOf } = await readerOf(caller, readers)
  const among = access === 'all' ? undefined : scopeOf(access, objectType, caller)
  const found = await coreObjects.search(caller.tenantId, objectType, trimmed, among, SEARCH_RESULTS_COUNT)
  return found.map(dtoOf)
}

async function visiblePage(
  visible: VisibleObjects,
  objectType: ObjectType,
  after: string | undefined,
  size: number,
  tenantId: string,
  coreObjects: CoreObjectReader,
): Promise<Page<CoreObject>> {
  const page = pageFrom(visible.idsAfter(objectType, after, size + 1), size, (id) => id)
  return { ...page, items: await coreObjects.ofIds(tenantId, objectType, page.items) }
}

function scopeOf(visible: VisibleObjects, objectType: ObjectType, caller: Caller): SearchScope {
  const count = visible.count(objectType)
  return {
    count,
    has: (id) => visible.has({ objectType, id }),
    isFoundByNin: (object) => isOwn(object, caller),
    ids: () => visible.idsAfter(objectType, undefined, count),
  }
}

/** The id in a reference; empty when there is none. */
function idIn(value: unknown): string[] {
  const { objectId } = (value ?? {}) as { objectId?: unknown }
  return typeof objectId === 'string' ? [objectId] : []
}
