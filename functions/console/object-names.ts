import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { PersonDto } from '../../shared/domain/collections/list-people.ts'
import type { GroupLinkDto } from '../../shared/domain/group-links/group-link.ts'
import type { FoundPerson } from '../../shared/domain/insight/find-people.ts'
import type { Api, PageOf } from './api.ts'
import { t } from './language/texts.ts'
import { useResource } from './resource.ts'
import { useConsole } from './session.ts'

/*
 * Administrators of collections cannot read core objects, but they can preview conditions. So the console finds people
 * and names by a preview, which works for all of them.
 */

export type PickedItem = {
  readonly id: string
  readonly name: string
  /** What distinguishes items of one name. */
  readonly detail?: string
}

const MAX_FOUND = 20
/** The limit of a list in a condition. */
const MAX_IDS = 1000

type Leaf = { readonly id: string; readonly field: string; readonly operator: string; readonly value: unknown }

/** The types of objects that have names, with the attributes that make up the name. */
const NAME_ATTRIBUTES = {
  Identity: ['identityDisplayName'],
  Relationship: ['identityDisplayName', 'relationshipTitle'],
  OrgUnit: ['orgUnitDisplayName'],
} as const
export type NamedObjectType = keyof typeof NAME_ATTRIBUTES

/**
 * Objects whose name contains a text, in any case. The id of an object finds it as well, and stands for itself
 * otherwise.
 */
export async function findObjects(
  api: Api,
  objectType: NamedObjectType,
  text: string,
  signal: AbortSignal,
): Promise<readonly PickedItem[]> {
  const wanted = text.trim().toLowerCase()
  if (objectType === 'Identity' && !GUID.test(wanted)) return searchPeople(api, wanted, signal)
  if (GUID.test(wanted)) {
    const names = await namesOf(api, objectType, [wanted], signal)
    return [{ id: wanted, name: names.get(wanted) ?? wanted }]
  }
  const leaves = NAME_ATTRIBUTES[objectType].map((id) => {
    return { id, field: `ToLower(${id})`, operator: 'Contains', value: wanted }
  })
  return previewed(api, objectType, leaves, MAX_FOUND, signal)
}

/** People whose name, number or address contains a text, in any case. */
export const readFoundPeople = (api: Api, text: string, signal: AbortSignal): Promise<readonly FoundPerson[]> =>
  api.read(`/collections/beta/people?text=${encodeURIComponent(text)}`, signal)

/** The first people that are found, with what distinguishes people of one name. */
export async function searchPeople(api: Api, text: string, signal: AbortSignal): Promise<readonly PickedItem[]> {
  return (await readFoundPeople(api, text, signal))
    .slice(0, MAX_FOUND)
    .map(({ identityId, displayName, title, orgUnitName, email }) => ({
      id: identityId,
      name: displayName ?? identityId,
      detail: [title, orgUnitName, email].filter((part) => part !== null).join(' · '),
    }))
}

/** The names of objects of a type by their ids. Objects that do not exist any more are left out. */
export async function namesOf(
  api: Api,
  objectType: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => GUID.test(id)).slice(0, MAX_IDS)
  if (wanted.length === 0) return new Map()
  const id = ID_OF[objectType] ?? 'identityId'
  const leaf = { id, field: id, operator: 'In', value: wanted }
  const found = await previewed(api, objectType, [leaf], wanted.length, signal)
  return new Map(found.map((item) => [item.id, item.name]))
}

/** The names of all collections by their ids. */
export async function collectionNames(api: Api): Promise<ReadonlyMap<string, string>> {
  const collections = await api.all<CollectionDto>('/collections/beta')
  return new Map(collections.map(({ id, name }) => [id, name]))
}

/** The name of a linked group. */
export const groupNameOf = ({ directoryGroupDisplayName, directoryGroupId }: GroupLinkDto): string =>
  directoryGroupDisplayName ?? directoryGroupId

/** Whether a text is in one of the others, in any case. */
export function isTextIn(text: string, others: readonly (string | null | undefined)[]): boolean {
  const wanted = text.trim().toLowerCase()
  return others.some((other) => other?.toLowerCase().includes(wanted))
}

const MAX_COLLECTIONS_FOUND = 20

/** The collections whose name contains a text, in any case. */
export function collectionsNamed<Item extends PickedItem>(collections: readonly Item[], text: string): Item[] {
  const wanted = text.trim().toLowerCase()
  return collections.filter(({ id, name }) => id === wanted || isTextIn(text, [name])).slice(0, MAX_COLLECTIONS_FOUND)
}

/**
 * The names of those who did something, by what records name them with: the id of an identity, or that of an account.
 */
export async function actorNames(
  api: Api,
  actorIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(actorIds)].filter((id) => GUID.test(id)).slice(0, MAX_IDS)
  if (ids.length === 0) return new Map()
  const body = { identityIds: ids, accounts: ids }
  const { data } = await api.send<PersonDto[]>('POST', '/collections/beta/people', { body, signal })
  return new Map(
    data.flatMap(({ identityId, directoryObjectId, displayName }) =>
      displayName === null ? [] : [identityId, directoryObjectId ?? identityId].map((id) => [id, displayName] as const),
    ),
  )
}

/** The name of who did something. Applications, and people without a core identity, have none here. */
export function actorName(actorId: string, names: ReadonlyMap<string, string>): string {
  return actorId === 'system' ? t('theService') : (names.get(actorId) ?? actorId)
}

/** Names those who did something. Until the names are loaded, ids stand for them. */
export function useActorName(actorIds: readonly string[]): (actorId: string) => string {
  const { api } = useConsole()
  const names = useResource(actorIds.join(), (signal) => actorNames(api, actorIds, signal))
  return (actorId) => actorName(actorId, names.value ?? new Map())
}

/** Entries with the names of those who made them. */
export async function withActorNames<Entry extends { readonly actorId: string }>(
  api: Api,
  { items, nextCursor }: PageOf<Entry>,
  signal: AbortSignal | undefined,
): Promise<PageOf<Entry & { readonly actorName: string }>> {
  const actorIds = items.map(({ actorId }) => actorId)
  const names = await actorNames(api, actorIds, signal)
  return { items: items.map((entry) => ({ ...entry, actorName: actorName(entry.actorId, names) })), nextCursor }
}

const GUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/

const ID_OF: Readonly<Record<string, string>> = {
  Identity: 'identityId',
  Relationship: 'relationshipId',
  OrgUnit: 'orgUnitId',
}

type Preview = { readonly preview: readonly { readonly objectId: string; readonly displayName: string | null }[] }

async function previewed(
  api: Api,
  objectType: string,
  leaves: readonly Leaf[],
  limit: number,
  signal?: AbortSignal,
): Promise<PickedItem[]> {
  const condition = { groupOperator: 'OR', conditions: leaves }
  const body = { preview: { objectType, condition }, limit }
  const { data } = await api.send<Preview>('POST', '/collections-criteria/beta/preview', { body, signal })
  return data.preview.map(({ objectId, displayName }) => ({ id: objectId, name: displayName ?? objectId }))
}
