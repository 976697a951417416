/** What the rules of requests with ends, deadlines, fallbacks and deputies say, for one collection and one requester. */

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The requester, approvers, their deputies, and the requester's manager. */
export const PEOPLE = ['subject', 'ann', 'bo', 'fay', 'eve', 'manager'] as const
export type Name = (typeof PEOPLE)[number]

export type ModelGate = {
  readonly order: number
  readonly type: 'Identity' | 'Manager' | 'Collection'
  /** Of a gate of identities. Those of a gate of a collection are the members of the board. */
  readonly approvers: readonly Name[]
  /** The members of the board, or the people named. */
  readonly fallback?: { readonly afterDays: number; readonly approvers: readonly Name[] | 'board' }
}

export type ModelPolicy = {
  readonly gates: readonly ModelGate[]
  readonly maxDays?: number
  readonly requestDays?: number
}

type Waiting = {
  gate: ModelGate
  sinceMs: number
  /** Type and approvers of the gates that have approved. */
  approved: (readonly [ModelGate['type'], readonly Name[]])[]
}

type ModelRequest = {
  status: 'PendingApproval' | 'Joined' | 'Left' | 'Cancelled' | 'Rejected'
  readonly createdMs: number
  endMs: number | undefined
  waiting: Waiting | undefined
  extension: (Waiting & { endMs: number; askedMs: number }) | undefined
  /** Whether it comes back with the requester. */
  isRestorable?: boolean
}

type ModelDeputy = { readonly to: Name; readonly fromMs: number; readonly untilMs: number }

export class DeadlinesModel {
  nowMs: number
  policy: ModelPolicy
  request: ModelRequest | undefined
  readonly deputies = new Map<Name, ModelDeputy>()
  readonly merged = new Map<Name, Name>()
  /** Of the requester's position. */
  manager: Name = 'manager'
  /** The members of a collection that approves. */
  board = new Set<Name>()

  constructor(policy: ModelPolicy, nowMs: number) {
    this.policy = policy
    this.nowMs = nowMs
  }

  /** A copy with a request of its own, to try out what an action does. */
  copy(): DeadlinesModel {
    const copy = new DeadlinesModel(this.policy, this.nowMs)
    copy.request = structuredClone(this.request)
    for (const [of, deputy] of this.deputies) copy.deputies.set(of, deputy)
    for (const [from, to] of this.merged) copy.merged.set(from, to)
    copy.manager = this.manager
    copy.board = new Set(this.board)
    return copy
  }

  /** What waits: the request, or the extension of the membership. */
  get waiting(): Waiting | undefined {
    return this.request?.status === 'Joined' ? this.request.extension : this.request?.waiting
  }

  approversAt({ type, approvers, fallback }: ModelGate, sinceMs: number): Set<Name> {
    const own = new Set<Name>({ Manager: [this.manager], Collection: [...this.board], Identity: approvers }[type])
    own.delete('subject')
    const isLate = fallback !== undefined && this.nowMs >= sinceMs + fallback.afterDays * DAY_MS
    if (fallback === undefined || (own.size > 0 && !isLate)) return own
    const others = fallback.approvers === 'board' ? this.board : fallback.approvers
    const all = new Set<Name>([...own, ...others])
    all.delete('subject')
    return all
  }

  /** People cannot decide on their own request, or on that of a person whom they represent. */
  mayDecide(name: Name): boolean {
    const waiting = this.waiting
    if (waiting === undefined || name === 'subject') return false
    const approvers = this.approversAt(waiting.gate, waiting.sinceMs)
    if (approvers.has(name)) return true
    return [...this.deputies].some(
      ([of, { to, fromMs, untilMs }]) =>
        to === name && fromMs <= this.nowMs && this.nowMs < untilMs && approvers.has(of),
    )
  }

  get isLive(): boolean {
    return this.request?.status === 'PendingApproval' || this.request?.status === 'Joined'
  }

  submit(endMs: number | undefined): boolean {
    if (this.isLive || this.#isTooLate(endMs)) return false
    const [first] = this.policy.gates
    if (first !== undefined && this.approversAt(first, this.nowMs).size === 0) return false
    const none = { waiting: undefined, extension: undefined }
    this.request = { status: 'PendingApproval', createdMs: this.nowMs, endMs, ...none }
    if (first === undefined) this.#grant()
    else this.request.waiting = { gate: first, sinceMs: this.nowMs, approved: [] }
    return true
  }

  approve(name: Name): boolean {
    const waiting = this.waiting
    if (waiting === undefined || !this.mayDecide(name)) return false
    waiting.approved.push([waiting.gate.type, waiting.gate.approvers])
    const next = this.#remaining(waiting)[0]
    if (next === undefined) this.#grant()
    else Object.assign(waiting, { gate: next, sinceMs: this.nowMs })
    return true
  }

  reject(name: Name): boolean {
    if (this.request === undefined || !this.mayDecide(name)) return false
    if (this.request.status === 'Joined') this.request.extension = undefined
    else Object.assign(this.request, { status: 'Rejected', waiting: undefined })
    return true
  }

  extend(endMs: number): boolean {
    const { request } = this
    if (request?.status !== 'Joined' || request.extension !== undefined || this.#isTooLate(endMs)) return false
    if (request.endMs === undefined || endMs <= request.endMs) return false
    const [first] = this.policy.gates
    if (first === undefined) {
      request.endMs = endMs
      return true
    }
    if (this.approversAt(first, this.nowMs).size === 0) return false
    request.extension = { gate: first, sinceMs: this.nowMs, approved: [], endMs, askedMs: this.nowMs }
    return true
  }

  leave(): boolean {
    if (this.request?.status !== 'Joined') return false
    Object.assign(this.request, { status: 'Left', extension: undefined })
    return true
  }

  cancel(): boolean {
    if (this.request?.status !== 'PendingApproval') return false
    Object.assign(this.request, { status: 'Cancelled', waiting: undefined })
    return true
  }

  /** A direct add. A member keeps the end. */
  admit(endMs: number | undefined): boolean {
    if (this.#isTooLate(endMs)) return false
    if (this.request?.status === 'Joined') return true
    const { createdMs = this.nowMs, endMs: asked } = this.isLive ? (this.request ?? {}) : {}
    const none = { waiting: undefined, extension: undefined }
    this.request = { status: 'PendingApproval', createdMs, endMs: endMs ?? asked, ...none }
    this.#grant()
    return true
  }

  edit(policy: ModelPolicy): void {
    this.policy = policy
    const waiting = this.waiting
    if (waiting === undefined) return
    const next = this.#remaining(waiting)[0]
    const isSame = next !== undefined && this.#isSameGate(waiting.gate, next)
    if (next === undefined) this.#grant()
    else Object.assign(waiting, { gate: next, sinceMs: isSame ? waiting.sinceMs : this.nowMs })
  }

  /** Everything of the one belongs to the other. */
  merge(from: Name, to: Name): void {
    const rename = (names: readonly Name[]) => [...new Set(names.map((name) => (name === from ? to : name)))]
    const renamed = (gate: ModelGate): ModelGate => ({
      ...gate,
      approvers: rename(gate.approvers),
      ...(gate.fallback &&
        gate.fallback.approvers !== 'board' && {
          fallback: { ...gate.fallback, approvers: rename(gate.fallback.approvers) },
        }),
    })
    this.merged.set(from, to)
    this.board = new Set(rename([...this.board]))
    if (this.manager === from) this.manager = to
    for (const waiting of [this.request?.waiting, this.request?.extension]) {
      if (waiting === undefined) continue
      waiting.approved = waiting.approved.map(([type, names]) => [type, rename(names)])
      waiting.gate = renamed(waiting.gate)
    }
    this.#mergeDeputies(from, to)
    this.edit({ ...this.policy, gates: this.policy.gates.map(renamed) })
  }

  remove(): void {
    if (this.request === undefined || !this.isLive) return
    const wasJoined = this.request.status === 'Joined'
    this.request.status = wasJoined ? 'Left' : 'Cancelled'
    this.request.waiting = undefined
    this.request.isRestorable = wasJoined
  }

  restore(): void {
    const { request } = this
    if (request?.isRestorable !== true) return
    if (request.endMs === undefined || request.endMs > this.nowMs) request.status = 'Joined'
    request.isRestorable = false
  }

  /** What ends by itself. */
  advance(nowMs: number): void {
    this.nowMs = nowMs
    const { request } = this
    if (request === undefined) return
    const { endMs = Number.POSITIVE_INFINITY, extension } = request
    if (request.status === 'Joined') {
      const waitsUntilMs = extension === undefined ? endMs : Math.min(endMs + 14 * DAY_MS, extension.endMs)
      if (Math.max(endMs, waitsUntilMs) <= nowMs) Object.assign(request, { status: 'Left', extension: undefined })
    } else if (request.status === 'PendingApproval') {
      const days = this.policy.requestDays ?? Number.POSITIVE_INFINITY
      const isDue = endMs <= nowMs || request.createdMs + days * DAY_MS <= nowMs
      if (isDue) Object.assign(request, { status: 'Cancelled', waiting: undefined })
    }
  }

  #mergeDeputies(from: Name, to: Name): void {
    const isOver = ({ untilMs }: ModelDeputy) => untilMs <= this.nowMs
    for (const [of, deputy] of this.deputies) if (isOver(deputy)) this.deputies.delete(of)
    const ownFirst = [...this.deputies].sort(([left], [right]) => Number(left === from) - Number(right === from))
    for (const [of, deputy] of ownFirst) {
      const moved = { of: of === from ? to : of, to: deputy.to === from ? to : deputy.to }
      if (moved.of !== of) this.deputies.delete(of)
      if (moved.of === moved.to) this.deputies.delete(of)
      else if (moved.of === of || !this.deputies.has(moved.of)) this.deputies.set(moved.of, { ...deputy, to: moved.to })
    }
  }

  /** A gate in the place of another is the same one while a person can decide there who could before. */
  #isSameGate(former: ModelGate, gate: ModelGate): boolean {
    if (gate.order !== former.order || gate.type !== former.type) return false
    if (gateKey(gate) === gateKey(former)) return true
    const isElsewhere = this.policy.gates.some((other) => gateKey(other) === gateKey(former))
    return !isElsewhere && gate.approvers.some((name) => former.approvers.includes(name))
  }

  #remaining({ approved }: Waiting): ModelGate[] {
    const unused = approved.map(([type, approvers]) => gateKey({ type, approvers }))
    return this.policy.gates.filter((gate) => {
      const index = unused.indexOf(gateKey(gate))
      if (index >= 0) unused.splice(index, 1)
      return index < 0
    })
  }

  #isTooLate(endMs: number | undefined): boolean {
    const { maxDays } = this.policy
    return endMs !== undefined && maxDays !== undefined && endMs > this.nowMs + maxDays * DAY_MS
  }

  #grant(): void {
    const { request } = this
    if (request === undefined) return
    const { maxDays = Number.POSITIVE_INFINITY } = this.policy
    const { extension } = request
    if (request.status === 'Joined' && extension !== undefined) {
      const latestMs = extension.askedMs + maxDays * DAY_MS
      if (request.endMs !== undefined) {
        request.endMs = Math.max(request.endMs, Math.min(extension.endMs, latestMs))
      }
      request.extension = undefined
      return
    }
    const endMs = Math.min(request.endMs ?? Number.POSITIVE_INFINITY, this.nowMs + maxDays * DAY_MS)
    Object.assign(request, {
      status: 'Joined',
      waiting: undefined,
      endMs: Number.isFinite(endMs) ? endMs : undefined,
    })
  }
}

const gateKey = ({ type, approvers }: Pick<ModelGate, 'type' | 'approvers'>): string =>
  `${type} ${[...approvers].sort()}`
