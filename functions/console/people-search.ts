import type { Api } from './api.ts'
import type { PickedItem } from './components/item-picker.tsx'

/*
 * Administrators of collections cannot read core objects, but they can preview conditions. So the console finds people
 * and their names by a preview, which works for all of them.
 */

const FOUND_AT_MOST = 20

type Leaf = { readonly id: string; readonly field: string; readonly operator: string; readonly value: unknown }

/** People whose name contains a text, in any case. */
export function findPeople(api: Api, text: string, signal: AbortSignal): Promise<readonly PickedItem[]> {
  const id = 'identityDisplayName'
  const leaf = { id, field: `ToLower(${id})`, operator: 'Contains', value: text.toLowerCase() }
  return previewed(api, leaf, FOUND_AT_MOST, signal)
}

/** The names of people by their ids. An id without a person keeps the id as its name. */
export async function namesOfPeople(api: Api, ids: readonly string[], signal: AbortSignal): Promise<PickedItem[]> {
  if (ids.length === 0) return []
  const leaf = { id: 'identityId', field: 'identityId', operator: 'In', value: ids }
  const found = new Map((await previewed(api, leaf, ids.length, signal)).map(({ id, name }) => [id, name]))
  return ids.map((id) => ({ id, name: found.get(id) ?? id }))
}

type Preview = { readonly preview: readonly { readonly objectId: string; readonly displayName: string | null }[] }

async function previewed(api: Api, leaf: Leaf, limit: number, signal: AbortSignal): Promise<PickedItem[]> {
  const condition = { groupOperator: 'AND', conditions: [leaf] }
  const body = { preview: { objectType: 'Identity', condition }, limit }
  const { data } = await api.send<Preview>('POST', '/collections-criteria/beta/preview', { body, signal })
  return data.preview.map(({ objectId, displayName }) => ({ id: objectId, name: displayName ?? objectId }))
}
