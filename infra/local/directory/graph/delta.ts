import type { DirectoryObject } from '../objects.ts'
import { answered, badRequest, type GraphAnswer, type GraphCall, GraphRefusal } from './exchange.ts'
import { looksEmpty, memberList } from './members.ts'
import { filteredIds } from './pages.ts'
import { namesIn } from './properties.ts'

/** https://learn.microsoft.com/graph/api/group-delta */
const MAX_FILTERED_COUNT = 50

/** https://learn.microsoft.com/graph/delta-query-overview#token-duration */
const TOKEN_KEPT_MS = 7 * 24 * 60 * 60 * 1000

/** Members on a page. The documentation has no number. */
const PAGE_COUNT = 1000

/**
 * A round of delta queries and the position in it. It is the content of a state token, which is opaque to clients. A
 * round returns changes up to its start only; the next round returns later ones.
 */
type Round = {
  readonly tenantId: string
  readonly issuedMs: number
  /** Key and id of each group of the filter. */
  readonly groups: readonly (readonly [key: number, id: string])[]
  /** Sequence number after which changes are returned. Null in the first round, which returns all members. */
  readonly from: number | null
  /** Sequence number of the last change that the round returns, and after which the next round begins. */
  readonly until: number
  /** The last group and member of the page before. */
  readonly groupIndex: number
  readonly afterKey: number
  readonly pageIndex: number
}

/**
 * `GET /groups/delta` with `$select=members` and a filter of ids: the members of the groups, and then their changes.
 * https://learn.microsoft.com/graph/delta-query-groups
 */
export function groupDelta(call: GraphCall): GraphAnswer {
  if (call.flaw.delta === 'reset') throw expired()
  const round = continuedRound(call) ?? changesRound(call) ?? firstRound(call)
  if (call.flaw.delta === 'emptyPage') return pageOf(call, [], { ...round, pageIndex: round.pageIndex + 1 })
  const { value, next } = groupsOfPage(call, round)
  return pageOf(call, value, next ?? round, next === undefined)
}

function pageOf(call: GraphCall, value: readonly object[], round: Round, isLast = false): GraphAnswer {
  const name = isLast ? '$deltatoken' : '$skiptoken'
  const token = Buffer.from(JSON.stringify({ ...round, issuedMs: call.nowMs })).toString('base64url')
  const link = `${call.origin}/v1.0/groups/delta?${name}=${token}`
  const context = `${call.origin}/v1.0/$metadata#groups`
  return answered(200, { '@odata.context': context, [isLast ? '@odata.deltaLink' : '@odata.nextLink']: link, value })
}

function firstRound(call: GraphCall): Round {
  const { tenantId } = call.caller
  const selected = namesIn(call.query.get('$select') ?? '')
  if (!selected.includes('members') || selected.some((name) => name !== 'members' && name !== 'id')) {
    throw badRequest('Only $select=members is supported here.', 'Request_UnsupportedQuery')
  }
  const ids = filteredIds(call.query)
  if (ids.length > MAX_FILTERED_COUNT) {
    const message = `Too many filtered objects: ${ids.length}. At most ${MAX_FILTERED_COUNT} are supported.`
    throw badRequest(message, 'Request_UnsupportedQuery')
  }
  const found = [...new Set(ids)].map((id) => call.objects.find(tenantId, id))
  const groups = found.flatMap((group) => (group?.type === 'group' ? [[group.key, group.id] as const] : []))
  return { tenantId, groups, from: null, until: lastVisible(call), ...beginningOfRound(call) }
}

function changesRound(call: GraphCall): Round | undefined {
  const before = tokenOf(call, '$deltatoken')
  if (before === undefined) return undefined
  const until = Math.max(before.until, lastVisible(call))
  const from = call.flaw.delta === 'replay' ? (before.from ?? 0) : before.until
  return { ...before, from, until, ...beginningOfRound(call) }
}

const continuedRound = (call: GraphCall): Round | undefined => tokenOf(call, '$skiptoken')

const beginningOfRound = ({ nowMs }: GraphCall) => ({ issuedMs: nowMs, groupIndex: 0, afterKey: 0, pageIndex: 0 })

const lastVisible = ({ changes, nowMs, flaw }: GraphCall): number => changes.lastSequence(nowMs - flaw.staleMs)

/** @throws GraphRefusal 400 for a foreign or damaged token, 410 for an expired one */
function tokenOf(call: GraphCall, name: '$skiptoken' | '$deltatoken'): Round | undefined {
  const text = call.query.get(name)
  if (text === null) return undefined
  const round = parsedToken(text)
  if (round?.tenantId !== call.caller.tenantId) throw badRequest('Badly formed token.', 'BadRequest')
  const isExpired = call.nowMs > round.issuedMs + TOKEN_KEPT_MS
  if (isExpired || !call.changes.areKeptAfter(round.from ?? round.until)) throw expired()
  return round
}

function parsedToken(text: string): Round | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Round
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    return undefined
  }
}

/** The client has to begin again. https://learn.microsoft.com/graph/delta-query-overview#synchronization-reset */
const expired = () =>
  new GraphRefusal(
    410,
    'syncStateNotFound',
    'The sync state generation is not found. The delta token is expired and data must be synchronized again.',
  )

type Entry = { readonly key: number; readonly shown: object; readonly deletesGroup: boolean }

/** The groups of a page. A group with many members is on several pages. `next` is undefined on the last page. */
function groupsOfPage(call: GraphCall, round: Round): { value: object[]; next: Round | undefined } {
  const value: object[] = []
  let leftCount = PAGE_COUNT
  let { groupIndex, afterKey } = round
  for (; groupIndex < round.groups.length; groupIndex += 1) {
    const [key, id] = round.groups[groupIndex] ?? [0, '']
    const found = entriesOf(call, round, { key, afterKey, count: leftCount + 1 })
    const entries = found.slice(0, leftCount)
    // The first round has groups without members, too.
    if (entries.length > 0 || round.from === null) value.push(shownGroup(id, entries))
    afterKey = entries.at(-1)?.key ?? afterKey
    if (found.length > entries.length) break
    leftCount -= entries.length
    afterKey = 0
  }
  const isDone = groupIndex === round.groups.length
  // The last page of the first round is empty.
  if (isDone && (round.from !== null || value.length === 0)) return { value, next: undefined }
  return { value, next: { ...round, groupIndex, afterKey, pageIndex: round.pageIndex + 1 } }
}

function shownGroup(id: string, entries: readonly Entry[]): object {
  if (entries.some(({ deletesGroup }) => deletesGroup)) return { id, '@removed': { reason: 'deleted' } }
  return entries.length === 0 ? { id } : { id, 'members@delta': entries.map(({ shown }) => shown) }
}

type Section = { readonly key: number; readonly afterKey: number; readonly count: number }

function entriesOf(call: GraphCall, { from, until, groups }: Round, { key, afterKey, count }: Section): Entry[] {
  const id = groups.find(([groupKey]) => groupKey === key)?.[1] ?? ''
  const group = call.objects.find(call.caller.tenantId, id)
  if (from === null) return group === undefined ? [] : memberList(call, group, true)(afterKey, count).map(memberEntry)
  if (group !== undefined && looksEmpty(group, call.caller)) return []
  return call.changes.changedMembers(key, { from, until }, afterKey, count).map((member) => {
    const removed = member.kind === 'added' ? {} : { '@removed': { reason: 'deleted' } }
    return { key: member.key, shown: { ...typeAndId(member), ...removed }, deletesGroup: member.kind === 'deleted' }
  })
}

const memberEntry = (member: DirectoryObject): Entry => ({
  key: member.key,
  shown: typeAndId(member),
  deletesGroup: false,
})

const typeAndId = ({ type, id }: Pick<DirectoryObject, 'type' | 'id'>) => ({
  '@odata.type': `#microsoft.graph.${type}`,
  id,
})
