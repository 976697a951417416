import type { Clocks } from './clocks.ts'
import type { CoreNames } from './compare-people.ts'
import type { Organisation } from './organisation.ts'

export type HistoryRecord = { readonly objectId: string; readonly change: 'Added' | 'Removed'; readonly at: string }
type MembersThen = { readonly at: string; readonly memberIds: ReadonlySet<string> }

/** The members of each collection at the last quiet point. */
export type FormerMembers = Map<string, MembersThen>

const COLLECTIONS_PATH = '/collections/beta'

/**
 * Compares the history of each collection with its members, now and at the last quiet point. Changes of later requests
 * have later times: the clocks are advanced by more than they are apart.
 */
export async function compareHistory(
  organisation: Organisation,
  { ninOf }: CoreNames,
  former: FormerMembers,
  { clocks, clocksApartMs }: { readonly clocks: Clocks; readonly clocksApartMs: number },
): Promise<{ readonly faults: string[]; readonly histories: ReadonlyMap<string, readonly HistoryRecord[]> }> {
  const { model, api, callers } = organisation
  const faults: string[] = []
  const histories = new Map<string, readonly HistoryRecord[]>()
  for (const collectionId of [...model.criteria.keys(), ...model.joinable.keys()]) {
    const members = await membersOf(organisation, collectionId)
    const path = `${COLLECTIONS_PATH}/${collectionId}/history`
    const newestFirst = await api.list<HistoryRecord>(callers.writer, path)
    histories.set(collectionId, newestFirst)
    faults.push(...replayed(collectionId, newestFirst.toReversed(), members))
    const then = former.get(collectionId)
    if (then !== undefined) {
      const found = await membersOf(organisation, collectionId, then.at)
      // A merge gives the memberships of one identity to another, also the former ones.
      const isComparable = (id: string) => !model.joinable.has(collectionId) || ninOf.has(id)
      const differing = [...found.symmetricDifference(then.memberIds)].filter(isComparable)
      if (differing.length > 0) faults.push(`Collection ${collectionId} as of ${then.at} differs in ${differing}`)
    }
    const at = new Date(Date.now() + clocks.aheadMs + clocksApartMs).toISOString()
    former.set(collectionId, { at, memberIds: members })
  }
  clocks.advance(2 * clocksApartMs + 1000)
  return { faults, histories }
}

async function membersOf({ api, callers }: Organisation, id: string, asOf?: string): Promise<Set<string>> {
  type Results = { readonly memberIds: readonly (string | { readonly objectId: string })[] }
  const query = asOf === undefined ? '' : `?asOf=${encodeURIComponent(asOf)}`
  const path = `${COLLECTIONS_PATH}/${id}/results${query}`
  const { status, data, errors } = await api.call<Results>({ token: callers.writer, method: 'GET', path })
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(errors)}`)
  return new Set(data.memberIds.map((member) => (typeof member === 'string' ? member : member.objectId)))
}

/** A member is added and removed in turn, and the last change tells whether it is one. */
function replayed(id: string, records: readonly HistoryRecord[], members: ReadonlySet<string>): string[] {
  const present = new Set<string>()
  const faults: string[] = []
  for (const { objectId, change, at } of records) {
    if (present.has(objectId) === (change === 'Added')) {
      faults.push(`History of collection ${id}: ${objectId} is ${change} twice, at ${at}`)
    }
    if (change === 'Added') present.add(objectId)
    else present.delete(objectId)
  }
  const differing = [...present.symmetricDifference(members)]
  return differing.length === 0 ? faults : [...faults, `History of collection ${id} differs in ${differing}`]
}
