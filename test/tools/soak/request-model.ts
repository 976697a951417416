import type { Span } from './times.ts'

/** Membership requests. Independent of the service: it shares no code with it. */

export type ModelGate = {
  readonly order: number
  readonly type: 'Identity' | 'Collection' | 'Manager'
  /** National identity numbers, ids of collections, or none. */
  readonly approvers: readonly string[]
  /** Days between two reminders of what waits at the gate. */
  readonly reminderDays?: number
  /** Decides as well while the gate has no approver but the requester. */
  readonly fallback?: ModelFallback
}
export type ModelFallback = {
  readonly afterDays: number
  readonly type: 'Identity' | 'Collection'
  readonly approvers: readonly string[]
}
export type ModelPolicy = {
  readonly approvalRequired: boolean
  readonly approvalGates: readonly ModelGate[]
  /** Ids of collections whose members may ask to join; everyone may when there are none. */
  readonly joinableBy: readonly string[]
  /** Days for which a membership lasts; no limit without. */
  readonly maxDays?: number
  /** Days within which a request is to be decided; no limit without. */
  readonly requestDays?: number
}

/** A later end of a membership that waits at a gate. */
export type ModelExtension = {
  readonly endMs: number
  readonly requested: Span
  /** The gates that approved it. */
  readonly approvedGates: string[]
}

export type ModelStatus = 'PendingApproval' | 'Joined' | 'Rejected' | 'Cancelled' | 'Left'
export type ModelRequest = {
  /** Unknown for a membership that was added directly. */
  readonly id: string | undefined
  /** The requester, by national identity number. */
  nin: string
  /** The position that it is for, by external id. */
  position: string | undefined
  /** A position that was deleted since the last quiet point: a request that ended since can still have it. */
  lostPosition: string | undefined
  /** Who submitted it on behalf of the requester. */
  readonly submitterNin: string | undefined
  /** The number of the requester before a merge. */
  formerNin: string | undefined
  status: ModelStatus
  /** Statuses that the request can have as well, where the order of events decides. */
  alternatives: ModelStatus[]
  /** The gates that approved the request. */
  readonly approvedGates: string[]
  /** Who approved or rejected it, by national identity number. */
  readonly deciders: Set<string>
  /** On whose behalf deputies did. */
  readonly represented: Set<string>
  /** Notes of the acknowledged decisions, with who made them: each is unique in a run. */
  decisionNotes: readonly { readonly text: string; readonly actorNin: string }[]
  /** Statuses of a request that the deletion of the identity has cancelled, until the service notices the deletion. */
  unnoticed: ModelStatus[]
  /** Whether it was one of two of a person when two identities were merged, until the service notices the merge. */
  isMergeUnnoticed: boolean
  /** Whether the membership ended by the deletion of the identity, and comes back with it. */
  endedByDeletion: boolean
  /** When it was made. */
  readonly created: Span
  /** The end that was asked for, in milliseconds. */
  readonly askedEndMs: number | undefined
  /** When the membership ends by itself. */
  end: Span | undefined
  /** The extension of a membership that waits; unknown where the order of events decides whether there is one. */
  extension: ModelExtension | 'unknown' | undefined
  /** When the days between the reminders of what waits last changed. */
  reminderChanged: Span | undefined
  /** Whether it is not known when it was granted, or which of two memberships stays, until the next quiet point. */
  isEndUncertain: boolean
}

/** The person and the position that a request is for. */
export type RequestSubject = Pick<ModelRequest, 'nin' | 'position'>

/** An approval counts for one gate with these approvers, wherever it stands. */
export function gateKey({ type, approvers }: ModelGate): string {
  return `${type}:${[...approvers].sort().join()}`
}

/** The gate to which a new request comes. */
export function firstGate({ approvalRequired, approvalGates }: ModelPolicy): ModelGate | undefined {
  return approvalRequired ? approvalGates.toSorted((left, right) => left.order - right.order)[0] : undefined
}

/** The gate where a waiting request or extension stands: the first one without an approval. */
export function gateOf(policy: ModelPolicy, request: Pick<ModelRequest, 'approvedGates'>): ModelGate | undefined {
  if (!policy.approvalRequired) return undefined
  const unused = [...request.approvedGates]
  return policy.approvalGates
    .toSorted((left, right) => left.order - right.order)
    .find((gate) => {
      const index = unused.indexOf(gateKey(gate))
      if (index >= 0) unused.splice(index, 1)
      return index < 0
    })
}

/** The gate where a request, or the extension of a membership, waits, as far as it is known. */
export function waitingGateOf(policy: ModelPolicy, request: ModelRequest): ModelGate | undefined {
  const { status, extension } = request
  if (status === 'PendingApproval') return gateOf(policy, request)
  return status === 'Joined' && typeof extension === 'object' ? gateOf(policy, extension) : undefined
}

/** @param mayJoin Whether the requester is still eligible. */
export function approveAt(policy: ModelPolicy, request: ModelRequest, gate: ModelGate, mayJoin: boolean): void {
  request.approvedGates.push(gateKey(gate))
  request.status = mayJoin ? statusUnder(policy, request) : 'Cancelled'
}

/** The status of a new request, or of a waiting one after a change of the policy. */
export function statusUnder(policy: ModelPolicy, request: ModelRequest): ModelStatus {
  return gateOf(policy, request) === undefined ? 'Joined' : 'PendingApproval'
}

export const isOpenOrJoined = ({ status }: ModelRequest): boolean => status === 'PendingApproval' || status === 'Joined'

/** Whether it is a membership, or can be one until the service notices a deletion or a merge. */
export const mayBeJoined = ({ status, alternatives, unnoticed }: ModelRequest): boolean =>
  status === 'Joined' || alternatives.includes('Joined') || unnoticed.includes('Joined')

/**
 * A waiting request under a changed policy. One that waits only until a deletion or a merge is noticed can join before,
 * and of two memberships of one person, either can be the older one.
 * @param mayJoin Whether the requester is eligible under the changed policy.
 */
export function followPolicy(policy: ModelPolicy, former: ModelPolicy, request: ModelRequest, mayJoin: boolean): void {
  const wasJoined = request.status === 'Joined'
  if (request.status === 'PendingApproval') moveWaiting(policy, former, request, mayJoin)
  const joins = statusUnder(policy, request) === 'Joined'
  if (joins && !wasJoined) request.isEndUncertain = true
  if (request.isMergeUnnoticed && (joins || request.status === 'Joined')) request.alternatives.push('Joined', 'Left')
  if (!joins) return
  if (request.alternatives.includes('PendingApproval')) request.alternatives.push('Joined')
  if (!request.unnoticed.includes('PendingApproval')) return
  request.unnoticed.push('Joined')
  request.alternatives.push('Left')
}

/** Eligibility is looked at again at every gate to which a request comes, and at the grant. */
function moveWaiting(policy: ModelPolicy, former: ModelPolicy, request: ModelRequest, mayJoin: boolean): void {
  const [from, to] = [gateOf(former, request), gateOf(policy, request)]
  const isAtSamePlace = from !== undefined && from.order === to?.order && from.type === to.type
  if (mayJoin) request.status = statusUnder(policy, request)
  else if (!isAtSamePlace) request.status = 'Cancelled'
  // The gate has other approvers: it is the same one, or another.
  else if (gateKey(from) !== gateKey(to)) request.alternatives.push('Cancelled')
}

/** The notes on the requests of a person are erased, and the person's own notes. */
export function eraseNotesOf(nin: string, requests: readonly ModelRequest[]): void {
  for (const request of requests) {
    request.decisionNotes = request.nin === nin ? [] : request.decisionNotes.filter(({ actorNin }) => actorNin !== nin)
  }
}

/** A position gets another external id. */
export function renamePosition(request: ModelRequest, former: string, name: string): void {
  if (request.position === former) request.position = name
  if (request.lostPosition === former) request.lostPosition = name
}

/** A position is gone: what is for it stays, for no position. @returns Whether there is such a request. */
export function losePosition(request: ModelRequest, positionId: string): boolean {
  if (!isOpenOrJoined(request) || request.position !== positionId) return false
  request.position = undefined
  request.lostPosition = positionId
  return true
}

/** Whether a request had this position, and it is not certain that it lost it for good. */
export function awaitsPosition({ position, lostPosition, endedByDeletion }: ModelRequest, positionId: string): boolean {
  return lostPosition === positionId || (endedByDeletion && position === positionId)
}

/** The identity is gone: what waits is cancelled, a membership ends until the identity is back. */
export function endByDeletion(request: ModelRequest): void {
  if (request.status === 'PendingApproval') {
    request.status = 'Cancelled'
    request.unnoticed = ['PendingApproval']
  } else if (request.status === 'Cancelled') {
    const mayHaveJoined = request.unnoticed.includes('Joined') || request.alternatives.includes('Joined')
    request.alternatives = mayHaveJoined ? ['Left'] : []
  } else if (request.status === 'Joined') {
    request.status = 'Left'
    request.endedByDeletion = true
  }
}

/** The identity is back, perhaps before its deletion was noticed. */
export function restoreAfterDeletion(request: ModelRequest): void {
  if (request.status === 'Cancelled') request.alternatives = [...request.unnoticed]
  if (!request.endedByDeletion) return
  request.status = 'Joined'
  request.endedByDeletion = false
  // Its position was deleted with the identity.
  request.lostPosition ??= request.position
  request.position = undefined
}

/** The status that the service has at a quiet point, where the order of events decides. */
export function settle(request: ModelRequest, found: ModelStatus, position: string | undefined): void {
  if (request.alternatives.includes(found)) {
    request.endedByDeletion = request.status === 'Cancelled' && found === 'Left'
    request.status = found
  }
  request.alternatives = []
  request.unnoticed = []
  request.isMergeUnnoticed = false
  const { lostPosition } = request
  request.lostPosition = undefined
  if (lostPosition === position && !isOpenOrJoined(request)) request.position = position
}

/**
 * Two identities are one person: of two memberships, or two waiting requests, the older one stays. The clocks of
 * instances are apart, so that either can be the older one. A membership stays, and a waiting request ends.
 */
export function mergeRequests(requests: readonly ModelRequest[], formerNin: string, nin: string): void {
  const kept = requests.find((request) => request.nin === nin && isOpenOrJoined(request))
  for (const request of requests.filter((request) => request.nin === formerNin)) {
    request.nin = nin
    request.formerNin = formerNin
    if (kept === undefined || !isOpenOrJoined(request)) continue
    for (const either of [kept, request]) either.isEndUncertain = true
    if (kept.extension !== undefined || request.extension !== undefined) {
      for (const either of [kept, request]) either.extension = 'unknown'
    }
    if (kept.status === 'PendingApproval' || request.status === 'PendingApproval') {
      for (const either of [kept, request]) either.isMergeUnnoticed = true
    }
    if (kept.status === request.status) {
      const ended = request.status === 'Joined' ? 'Left' : 'Cancelled'
      for (const either of [kept, request]) either.alternatives = [ended]
    } else if (kept.status === 'Joined') request.status = 'Cancelled'
    else kept.status = 'Cancelled'
  }
}
