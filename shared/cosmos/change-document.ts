import { type Static, Type } from 'typebox'
import { type AttributedChange, MEMBER_CHANGE_CAUSES } from '../domain/history/member-history.ts'
import { chunk } from '../kernel/chunk.ts'
import { packedGuids, unpackedGuids } from '../kernel/packed-guids.ts'
import { Nullable, OneOf } from '../kernel/schema.ts'
import { documentParser } from './document-parser.ts'

/** Days for which changes are kept, and the clock of the service. */
export type HistoryOptions = { readonly historyDays: number; nowMs(): number }

export const SECONDS_PER_DAY = 24 * 60 * 60

/** The `type` of the documents of changes, and of their parts. */
export const CHANGE_TYPE = 'change'
export const PART_TYPE = 'changePart'

/** Up to this many ids are stored as lists, which are indexed: a query finds the changes of one object. */
const MAX_LISTED_IDS = 100

/** A change of more ids is stored in parts. */
const MAX_IDS_PER_CHANGE = 10_000

/** About 64 KB: a larger document costs more request units per id. */
const IDS_PER_PART_COUNT = 3_000

/** What earlier versions of the service can read. */
const STORED_CAUSES = MEMBER_CHANGE_CAUSES.filter((cause) => cause !== 'Expired')
const STORED_FOR_EXPIRED = { cause: 'ObjectDeleted', isExpired: true } as const

const Ids = Type.Optional(Type.Array(Type.String()))
const PackedIds = Type.Optional(Type.String())

/** Ids of all causes, one cause after the other. Either listed or packed. */
const CONTENT = {
  causes: Type.Array(
    Type.Object({
      cause: OneOf(STORED_CAUSES),
      /** The cause is `Expired`. Version 1.0 knows neither, and reads the cause as stored. */
      isExpired: Type.Optional(Type.Literal(true)),
      actorId: Type.String(),
      addedCount: Type.Integer(),
      removedCount: Type.Integer(),
      requestId: Type.Optional(Type.String()),
      relationshipId: Type.Optional(Nullable(Type.String())),
      until: Type.Optional(Type.String()),
    }),
  ),
  added: Ids,
  removed: Ids,
  isPacked: Type.Optional(Type.Boolean()),
  packedAdded: PackedIds,
  packedRemoved: PackedIds,
}
const Content = Type.Object(CONTENT)
type Content = Readonly<Static<typeof Content>>

const Accounts = Type.Object({
  added: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
  withoutAccountCount: Type.Integer(),
  withoutAccountIds: Type.Optional(Type.Array(Nullable(Type.String()))),
  accountCount: Type.Integer(),
  readAtMs: Type.Number(),
})

/** A change of the members of a collection, with the version that it created. */
export const StoredChange = Type.Object({
  membershipVersion: Type.Integer(),
  atMs: Type.Number(),
  /** Names the parts with the ids of the change; absent where the change has the ids itself. */
  partsOf: Type.Optional(Type.String()),
  /** Whether the change added all members, to none. Its ids are then not stored: see `firstMembers`. */
  isFirst: Type.Optional(Type.Boolean()),
  /** The accounts of the ids, for the links of the collection. */
  accounts: Type.Optional(Accounts),
  ...CONTENT,
})
export type StoredChange = Readonly<Static<typeof StoredChange>>

/** Some ids of a large change. A part that no change names was left by an interrupted write and expires. */
const ChangePart = Type.Object({
  partsOf: Type.String(),
  /** The place of the first event of the part within the change. */
  firstIndex: Type.Integer(),
  /** The ids of the part lie between these two, inclusive. */
  fromId: Type.String(),
  toId: Type.String(),
  ...CONTENT,
})
export type ChangePart = Readonly<Static<typeof ChangePart>>

/** Takes 3 µs for a change of one id. */
export const parseChange = documentParser('change of members', StoredChange)
export const parsePart = documentParser('part of a change of members', ChangePart)

type Version = Pick<StoredChange, 'membershipVersion' | 'atMs' | 'accounts'>

/**
 * @param partsName Names the parts, if the change needs any.
 * @param isFirst Whether there were no members before, and there had never been any.
 */
export function storedChange(
  version: Version,
  changes: readonly AttributedChange[],
  partsName: string,
  isFirst = false,
): { change: StoredChange; parts: readonly ChangePart[] } {
  const idCount = changes.reduce((count, { added, removed }) => count + added.length + removed.length, 0)
  if (idCount <= MAX_IDS_PER_CHANGE) return { change: { ...version, ...contentOf(changes, idCount) }, parts: [] }
  // Several causes would need the ids of each.
  if (isFirst && changes.length === 1) return { change: { ...version, causes: causesOf(changes), isFirst }, parts: [] }
  return { change: { ...version, causes: [], partsOf: partsName }, parts: partsOf(changes, partsName) }
}

/** The causes of a change or part, with their members. */
export function changesIn({ causes, added, removed, packedAdded, packedRemoved }: Content): AttributedChange[] {
  const addedIds = added ?? unpackedGuids(packedAdded ?? '')
  const removedIds = removed ?? unpackedGuids(packedRemoved ?? '')
  let [addedFrom, removedFrom] = [0, 0]
  return causes.map(({ addedCount, removedCount, isExpired, ...attribution }) => {
    const [addedTo, removedTo] = [addedFrom + addedCount, removedFrom + removedCount]
    const change = {
      ...attribution,
      ...(isExpired && { cause: 'Expired' as const }),
      added: addedIds.slice(addedFrom, addedTo),
      removed: removedIds.slice(removedFrom, removedTo),
    }
    addedFrom = addedTo
    removedFrom = removedTo
    return change
  })
}

function causesOf(changes: readonly AttributedChange[]): Content['causes'] {
  return changes.map(({ added, removed, cause, ...attribution }) => ({
    ...attribution,
    ...(cause === 'Expired' ? STORED_FOR_EXPIRED : { cause }),
    addedCount: added.length,
    removedCount: removed.length,
  }))
}

function contentOf(changes: readonly AttributedChange[], idCount: number): Content {
  const added = changes.flatMap((change) => change.added)
  const removed = changes.flatMap((change) => change.removed)
  const causes = causesOf(changes)
  if (idCount <= MAX_LISTED_IDS) return { causes, added, removed }
  return { causes, isPacked: true, packedAdded: packedGuids(added), packedRemoved: packedGuids(removed) }
}

/** The first change with its ids, in slices of a few thousand, the last ones first. */
export function* slicesOfFirst(
  { causes: [cause] }: StoredChange,
  ids: readonly string[],
): Generator<{ readonly changes: readonly AttributedChange[]; readonly firstIndex: number }> {
  if (cause === undefined) return
  const { addedCount: _added, removedCount: _removed, isExpired: _isExpired, ...attribution } = cause
  const slices = chunk(ids, IDS_PER_PART_COUNT)
  for (const [index, added] of [...slices.entries()].reverse()) {
    yield { changes: [{ ...attribution, added, removed: [] }], firstIndex: index * IDS_PER_PART_COUNT }
  }
}

/** The parts in the order of the events, each with ids of one cause that are all added or all removed. */
function partsOf(changes: readonly AttributedChange[], partsName: string): ChangePart[] {
  const parts: ChangePart[] = []
  let firstIndex = 0
  for (const { added, removed, ...attribution } of changes) {
    const slices = [
      ...chunk(removed, IDS_PER_PART_COUNT).map((ids) => ({ removed: ids, added: [] })),
      ...chunk(added, IDS_PER_PART_COUNT).map((ids) => ({ removed: [], added: ids })),
    ]
    for (const slice of slices) {
      const ids: readonly string[] = [...slice.removed, ...slice.added]
      const range = { fromId: ids.at(0) ?? '', toId: ids.at(-1) ?? '' }
      const content = contentOf([{ ...attribution, ...slice }], ids.length)
      parts.push({ partsOf: partsName, firstIndex, ...range, ...content })
      firstIndex += ids.length
    }
  }
  return parts
}
