/** Membership requests: decisions, sections 7 and 13. Independent of the service: it shares no code with it. */

export type ModelGate = {
  readonly order: number
  readonly type: 'Identity' | 'Collection' | 'Manager'
  /** National identity numbers, ids of collections, or none. */
  readonly approvers: readonly string[]
}
export type ModelPolicy = { readonly approvalRequired: boolean; readonly approvalGates: readonly ModelGate[] }

export type ModelStatus = 'PendingApproval' | 'Joined' | 'Rejected' | 'Cancelled' | 'Left'
export type ModelRequest = {
  /** Unknown for a membership that was added directly. */
  readonly id: string | undefined
  /** The requester, by national identity number. */
  nin: string
  /** The number of the requester before a merge. */
  formerNin: string | undefined
  status: ModelStatus
  /** Statuses that the request can have as well, where the order of events decides. */
  alternatives: ModelStatus[]
  /** The gates that approved the request. */
  readonly approvedGates: string[]
  /** Who approved or rejected it, by national identity number. */
  readonly deciders: Set<string>
  /** Notes of the acknowledged decisions: each is unique in a run. */
  readonly decisionNotes: string[]
  /** Statuses of a request that the deletion of the identity has cancelled, until the service notices the deletion. */
  unnoticed: ModelStatus[]
  /** Whether the membership ended by the deletion of the identity, and comes back with it. */
  endedByDeletion: boolean
}

/** The person that a request is for, by national identity number. */
export type RequestSubject = Pick<ModelRequest, 'nin'>

/** An approval counts for one gate with these approvers, wherever it stands. */
function gateKey({ type, approvers }: ModelGate): string {
  return `${type}:${[...approvers].sort().join()}`
}

/** The gate to which a new request comes. */
export function firstGate({ approvalRequired, approvalGates }: ModelPolicy): ModelGate | undefined {
  return approvalRequired ? approvalGates.toSorted((one, other) => one.order - other.order)[0] : undefined
}

/** The gate where a waiting request stands: the first one without an approval. */
export function gateOf(policy: ModelPolicy, request: ModelRequest): ModelGate | undefined {
  if (!policy.approvalRequired) return undefined
  const unused = [...request.approvedGates]
  return policy.approvalGates
    .toSorted((one, other) => one.order - other.order)
    .find((gate) => {
      const index = unused.indexOf(gateKey(gate))
      if (index >= 0) unused.splice(index, 1)
      return index < 0
    })
}

export function approveAt(policy: ModelPolicy, request: ModelRequest, gate: ModelGate): void {
  request.approvedGates.push(gateKey(gate))
  if (gateOf(policy, request) === undefined) request.status = 'Joined'
}

/** The status of a new request, or of a waiting one after a change of the policy. */
export function statusUnder(policy: ModelPolicy, request: ModelRequest): ModelStatus {
  return gateOf(policy, request) === undefined ? 'Joined' : 'PendingApproval'
}

export const isOpenOrJoined = ({ status }: ModelRequest): boolean => status === 'PendingApproval' || status === 'Joined'

/** A waiting request under a changed policy. One that waits only until a deletion is noticed can join before. */
export function followPolicy(policy: ModelPolicy, request: ModelRequest): void {
  if (request.status === 'PendingApproval') request.status = statusUnder(policy, request)
  if (statusUnder(policy, request) !== 'Joined') return
  if (request.alternatives.includes('PendingApproval')) request.alternatives.push('Joined')
  if (!request.unnoticed.includes('PendingApproval')) return
  request.unnoticed.push('Joined')
  request.alternatives.push('Left')
}

/** The identity is gone: what waits is cancelled, a membership ends until the identity is back. */
export function endByDeletion(request: ModelRequest): void {
  if (request.status === 'PendingApproval') {
    request.status = 'Cancelled'
    request.unnoticed = ['PendingApproval']
  } else if (request.status === 'Cancelled') {
    request.alternatives = request.unnoticed.includes('Joined') ? ['Left'] : []
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
}

/** The status that the service has at a quiet point, where the order of events decides. */
export function settle(request: ModelRequest, found: ModelStatus): void {
  if (request.alternatives.includes(found)) {
    request.endedByDeletion = request.status === 'Cancelled' && found === 'Left'
    request.status = found
  }
  request.alternatives = []
  request.unnoticed = []
}

/**
 * Two identities are one person: of two memberships, or two waiting requests, the older one stays. The clocks of
 * instances are apart, so that either can be the older one. A membership stays, and a waiting request ends.
 */
export function mergeRequests(requests: readonly ModelRequest[], formerNin: string, nin: string): void {
  const kept = requests.find((request) => request.nin === nin && isOpenOrJoined(request))
  for (const request of requests.filter((each) => each.nin === formerNin)) {
    request.nin = nin
    request.formerNin = formerNin
    if (kept === undefined || !isOpenOrJoined(request)) continue
    if (kept.status === request.status) {
      const ended = request.status === 'Joined' ? 'Left' : 'Cancelled'
      for (const either of [kept, request]) either.alternatives = [ended]
    } else if (kept.status === 'Joined') request.status = 'Cancelled'
    else kept.status = 'Cancelled'
  }
}
