import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { dispatcher } from '../../../shared/http/dispatch.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { startDirectAccount } from '../contract/local-database.ts'
import { isTrouble, Life } from '../jobs/mortal-process.ts'
import {
  DAY_MS,
  DeadlinesModel,
  HOUR_MS,
  type ModelGate,
  type ModelPolicy,
  type Name,
  PEOPLE,
} from './deadlines-model.ts'
import { faults, joinableWorld, OPEN, type Person } from './joinable-world.ts'

/** A tenant slows down as it gets more collections and people. */
const RUNS_PER_WORLD_COUNT = 100

/** Ends lie between the hours at which things are done. */
const HALF_HOUR_MS = HOUR_MS / 2

const APPROVERS = ['ann', 'bo', 'subject'] as const satisfies readonly Name[]
const DECIDERS = ['subject', 'ann', 'bo', 'fay', 'eve', 'manager'] as const satisfies readonly Name[]

type Action =
  | { readonly kind: 'submit' | 'admit' | 'extend'; readonly days: number | undefined }
  | { readonly kind: 'approve' | 'reject'; readonly by: Name | 'approver' | 'deputy' }
  | { readonly kind: 'leave' | 'cancel' }
type Step =
  | { readonly action: Action; readonly kill: 'before' | 'after' | undefined }
  | { readonly edit: ModelPolicy; readonly kill: 'before' | 'after' | undefined }
  | { readonly deputy: readonly [of: Name, to: Name]; readonly fromDays: number; readonly days: number }
  | { readonly merge: readonly [from: Name, to: Name]; readonly kill: 'before' | 'after' | undefined }
  | { readonly deletedHours: number }
  /** The requester gets another manager. */
  | { readonly manager: Name }
  /** A person joins the collection that approves, or leaves it. */
  | { readonly board: Name }
  | { readonly hours: number; readonly kill: 'before' | 'after' | undefined }

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const kill = optional(fc.constantFrom('before' as const, 'after' as const))
const some = fc.shuffledSubarray([...APPROVERS], { minLength: 1 })
const fallback = fc.record({
  afterDays: fc.integer({ min: 1, max: 3 }),
  approvers: fc.oneof(
    { weight: 3, arbitrary: fc.shuffledSubarray<Name>(['fay', 'subject', 'bo'], { minLength: 1 }) },
    { weight: 1, arbitrary: fc.constant('board' as const) },
  ),
})
const gates = fc
  .record({
    named: fc.array(fc.tuple(some, optional(fallback)), { maxLength: 2 }),
    manager: fc.boolean(),
    last: optional(fallback),
    board: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    back: optional(fallback),
  })
  .map(({ named, manager, last, board, back: boardBack }): ModelGate[] => {
    const all = named.map(([approvers, back], index) => ({
      order: index + 1,
      type: 'Identity' as const,
      approvers,
      ...(back && { fallback: back }),
    }))
    const managers = { order: 9, type: 'Manager' as const, approvers: [], ...(last && { fallback: last }) }
    const boards = { order: 5, type: 'Collection' as const, approvers: [], ...(boardBack && { fallback: boardBack }) }
    return [...all, ...(board ? [boards] : []), ...(manager ? [managers] : [])]
  })
const policies: fc.Arbitrary<ModelPolicy> = fc
  .record({
    gates,
    maxDays: optional(fc.integer({ min: 2, max: 12 })),
    requestDays: optional(fc.integer({ min: 1, max: 6 })),
  })
  .map(({ maxDays, requestDays, ...rest }) => ({
    ...rest,
    ...(maxDays && { maxDays }),
    ...(requestDays && { requestDays }),
  }))
const days = optional(fc.integer({ min: 1, max: 14 }))
const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('submit' as const), days }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('admit' as const), days }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('extend' as const), days }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom('approve', 'approve', 'approve', 'reject'),
      by: fc.constantFrom<Name | 'approver' | 'deputy'>(
        'approver',
        'approver',
        'approver',
        'deputy',
        'deputy',
        ...DECIDERS,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('leave' as const, 'cancel' as const) }) },
)
const merges = fc.constantFrom<readonly [Name, Name]>(
  ['bo', 'subject'],
  ['ann', 'bo'],
  ['fay', 'subject'],
  ['eve', 'ann'],
)
const pairs = fc.tuple(fc.constantFrom(...PEOPLE), fc.constantFrom(...PEOPLE)).filter(([of, to]) => of !== to)
const series: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.record({ action: actions, kill }) },
    {
      weight: 5,
      arbitrary: fc.record({
        hours: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 120, max: 420 })),
        kill,
      }),
    },
    { weight: 2, arbitrary: fc.record({ edit: policies, kill }) },
    {
      weight: 2,
      arbitrary: fc.record({
        deputy: pairs,
        fromDays: fc.integer({ min: -2, max: 2 }),
        days: fc.integer({ min: 3, max: 9 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ merge: merges, kill }) },
    { weight: 1, arbitrary: fc.record({ deletedHours: fc.integer({ min: 1, max: 72 }) }) },
    { weight: 1, arbitrary: fc.record({ manager: fc.constantFrom<Name>('manager', 'eve', 'fay', 'bo') }) },
    { weight: 2, arbitrary: fc.record({ board: fc.constantFrom<Name>('eve', 'fay', 'ann', 'subject') }) },
  ),
  { minLength: 3, maxLength: 14, size: 'max' },
)

/** How a run begins: with a request, often with a deputy, and often with a membership whose extension waits. */
const openings: fc.Arbitrary<Step[]> = fc
  .record({
    asked: days,
    deputy: optional(pairs),
    decision: fc.constantFrom('approve', 'approve', 'approve', 'reject', undefined, undefined),
    extended: optional(fc.constantFrom(9, 14, 30)),
  })
  .map(({ asked, deputy, decision, extended }) => {
    const isApproved = decision === 'approve'
    const approval = { kind: 'approve', by: 'approver' } as const
    const taken: Action[] = [
      { kind: 'submit', days: asked },
      ...(isApproved ? [approval, approval, approval] : []),
      ...(decision === 'reject' ? [{ kind: 'reject', by: 'approver' } as const] : []),
      ...(isApproved && extended !== undefined ? [{ kind: 'extend', days: extended } as const] : []),
    ]
    const steps: Step[] = taken.map((action) => ({ action, kill: undefined }))
    return deputy === undefined ? steps : [{ deputy, fromDays: -1, days: 60 }, ...steps]
  })

/** A tenant whose processes can be killed at a save of requests. */
async function openOffice() {
  let life = new Life()
  const world = await joinableWorld(dispatcher, undefined, async (nowMs) => {
    const account = await startDirectAccount(nowMs)
    const container: typeof account.container = (id) => {
      const inner = account.container(id)
      if (id !== 'requests') return inner
      const items = new Proxy(inner.items, {
        get: (target, name) =>
          name === 'batch'
            ? (...args: unknown[]) => life.make(() => Reflect.apply(target.batch, target, args))
            : Reflect.get(target, name, target),
      })
      return new Proxy(inner, { get: (target, name) => (name === 'items' ? items : Reflect.get(target, name, target)) })
    }
    return { ...account, container }
  })
  let service = world.service
  let request = world.requestsOf(service)
  return {
    world,
    get service() {
      return service
    },
    async call<Data>(token: string, method: string, path: string, body?: unknown) {
      const { status, body: text } = await request(method, path, { authorization: token }, body)
      return { status, data: JSON.parse(text ?? 'null')?.data as Data }
    },
    /** Runs the work in a process that is killed at its first save. Afterwards, another process goes on. */
    async killedAt(kill: 'before' | 'after' | undefined, work: () => Promise<unknown>): Promise<void> {
      if (kill === undefined) return void (await work())
      life.endAfter(kill === 'before' ? 0 : 1)
      await work().catch((error: unknown) => {
        if (!isTrouble(error)) throw error
      })
      if (!life.hasEnded) {
        life.meetNoMoreFaults()
        return
      }
      for (const fault of faults.splice(0)) if (!isTrouble(fault)) throw fault
      life = new Life()
      service = world.newService()
      request = world.requestsOf(service)
    },
  }
}

type Office = Awaited<ReturnType<typeof openOffice>>

class Run {
  readonly #office: Office
  readonly #people: ReadonlyMap<Name, Person>
  readonly #collectionId: string
  readonly #boardId: string
  readonly #positionId: string
  readonly #model: DeadlinesModel
  #request: MembershipRequestDto | undefined
  #messages: Message[] = []
  #lookedAtMs = 0

  private constructor(
    office: Office,
    people: ReadonlyMap<Name, Person>,
    ids: { readonly collectionId: string; readonly boardId: string; readonly positionId: string },
    policy: ModelPolicy,
  ) {
    this.#office = office
    this.#people = people
    this.#collectionId = ids.collectionId
    this.#boardId = ids.boardId
    this.#positionId = ids.positionId
    this.#model = new DeadlinesModel(policy, office.world.nowMs())
  }

  static async open(office: Office, policy: ModelPolicy): Promise<Run> {
    const { world } = office
    const people = new Map<Name, Person>()
    for (const name of PEOPLE) people.set(name, await world.person())
    const [subject, manager] = [people.get('subject'), people.get('manager')]
    if (subject === undefined || manager === undefined) throw new Error('There are no people')
    const positionId = await world.position(subject, { manager: { objectId: manager.identityId } })
    const boardId = await world.joinable(OPEN)
    const collectionId = await world.joinable(joinPolicyOf(policy, people, boardId))
    return new Run(office, people, { collectionId, boardId, positionId }, policy)
  }

  async take(step: Step): Promise<string> {
    const model = this.#model
    if ('hours' in step) await this.#pass(step.hours, step.kill)
    else if ('edit' in step) {
      const renamed = step.edit.gates.some(({ approvers, fallback: back }) =>
        [...approvers, ...(back === undefined || back.approvers === 'board' ? [] : back.approvers)].some((name) =>
          model.merged.has(name),
        ),
      )
      // A policy cannot name people who were merged.
      if (renamed) return 'none'
      await this.#office.killedAt(step.kill, () => this.#put(step.edit))
      // The administrator sends it again when there was no answer.
      if (step.kill !== undefined) await this.#put(step.edit)
      model.edit(step.edit)
    } else if ('deputy' in step) await this.#setDeputy(step)
    else if ('merge' in step) {
      if (step.merge.some((name) => model.merged.has(name))) return 'none'
      await this.#merge(step.merge, step.kill)
    } else if ('deletedHours' in step) await this.#deleteAndRestore(step.deletedHours)
    else if ('manager' in step) await this.#move(step.manager)
    else if ('board' in step) await this.#changeBoard(step.board)
    else if (!(await this.#act(step.action, step.kill))) return 'refused'
    // What an action made due ends within a minute.
    await this.#pass(1, undefined)
    await this.#compare()
    return Object.keys(step)[0] ?? ''
  }

  get status(): string {
    return this.#model.request?.status ?? 'None'
  }

  /** @returns Whether the action was allowed. */
  async #act(action: Action, kill: 'before' | 'after' | undefined): Promise<boolean> {
    if ('by' in action && (action.by === 'approver' || action.by === 'deputy')) {
      const deputies = [...this.#model.deputies.values()].map(({ to }) => to)
      const named = action.by === 'deputy' ? deputies : DECIDERS.filter((name) => this.#model.mayDecide(name))
      const by = named.find((name) => !this.#model.merged.has(name))
      return by !== undefined && this.#act({ kind: action.kind, by }, kill)
    }
    if ('by' in action && this.#model.merged.has(action.by as Name)) return false
    const after = this.#model.copy()
    const isAllowed = applied(after, action)
    const answer: { status?: number } = {}
    await this.#office.killedAt(kill, async () => {
      answer.status = (await this.#send(action)).status
    })
    const wasKilled = answer.status === 500 || answer.status === undefined
    if (!wasKilled) {
      assert.equal((answer.status ?? 0) < 300, isAllowed, `${JSON.stringify(action)}: ${answer.status}`)
    }
    if (isAllowed && !(wasKilled && kill === 'before')) applied(this.#model, action)
    await this.#findRequest()
    return isAllowed
  }

  #send(action: Action): Promise<{ readonly status: number }> {
    const { call, world } = this.#office
    const base = `${world.requests}/${this.#collectionId}`
    const one = `${base}/${this.#request?.id ?? crypto.randomUUID()}`
    const end = 'days' in action && action.days !== undefined ? { endsAt: this.#endText(action.days) } : {}
    switch (action.kind) {
      case 'submit':
        return call(this.#token('subject'), 'POST', `${base}/submit`, end)
      case 'admit': {
        const path = `/collections-joinable/beta/${this.#collectionId}/results/members`
        return call(world.admin, 'POST', path, { coreIdentityIds: [this.#id('subject')], ...end })
      }
      case 'extend':
        return call(world.admin, 'POST', `${one}/extend`, { endsAt: this.#endText(action.days ?? 1) })
      case 'approve':
      case 'reject':
        return call(this.#token(action.by as Name), 'POST', `${one}/${action.kind}`, {})
      default:
        return call(this.#token('subject'), 'POST', `${one}/${action.kind}`, {})
    }
  }

  #endText(afterDays: number): string {
    return new Date(endMs(this.#model, afterDays)).toISOString()
  }

  #token(name: Name): string {
    return this.#people.get(name)?.token ?? ''
  }

  #id(name: Name): string {
    return this.#people.get(name)?.identityId ?? ''
  }

  async #put(policy: ModelPolicy): Promise<void> {
    const body = { objectType: 'Identity', joinPolicy: joinPolicyOf(policy, this.#people, this.#boardId) }
    const path = `/collections-joinable/beta/${this.#collectionId}`
    const { status } = await this.#office.call(this.#office.world.admin, 'PUT', path, body)
    assert.ok(status === 200 || status === 500, `The policy was answered with ${status}`)
  }

  async #setDeputy({ deputy: [of, to], fromDays, days: forDays }: Extract<Step, { deputy: unknown }>): Promise<void> {
    const model = this.#model
    if (model.merged.has(of) || model.merged.has(to)) return
    const fromMs = model.nowMs + fromDays * DAY_MS - HALF_HOUR_MS
    const untilMs = fromMs + forDays * DAY_MS
    const [from, until] = [new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]
    const path = `${this.#office.world.requests}/deputy`
    const { status } = await this.#office.call(this.#token(of), 'PUT', path, { deputyId: this.#id(to), from, until })
    assert.equal(status, 200)
    model.deputies.set(of, { to, fromMs, untilMs })
  }

  async #move(manager: Name): Promise<void> {
    if (this.#model.merged.has(manager)) return
    const { world } = this.#office
    const attributes = {
      identity: { objectId: this.#id('subject') },
      manager: { objectId: this.#id(manager) },
    }
    await world.put('relationship', attributes, this.#positionId)
    await this.#evaluate(undefined)
    this.#model.manager = manager
  }

  async #changeBoard(name: Name): Promise<void> {
    const { board, merged } = this.#model
    if (merged.has(name)) return
    const { call, world } = this.#office
    const path = `/collections-joinable/beta/${this.#boardId}/results/members`
    const { status } = await call(world.admin, board.has(name) ? 'DELETE' : 'POST', path, {
      coreIdentityIds: [this.#id(name)],
    })
    assert.equal(status, 200)
    if (!board.delete(name)) board.add(name)
  }

  async #merge([from, to]: readonly [Name, Name], kill: 'before' | 'after' | undefined): Promise<void> {
    const { world } = this.#office
    await world.remove('identity', this.#id(from), { ttl: 90 * 86_400, mergedInto: this.#id(to) })
    await this.#evaluate(kill)
    this.#model.merge(from, to)
  }

  async #deleteAndRestore(hours: number): Promise<void> {
    const { world } = this.#office
    const subject = this.#people.get('subject')
    if (subject === undefined) return
    await world.remove('identity', subject.identityId, { ttl: 90 * 86_400 })
    await this.#evaluate(undefined)
    this.#model.remove()
    await this.#pass(hours, undefined)
    const attributes = { displayName: 'Somebody', directoryObjectId: subject.account }
    await world.put('identity', attributes, subject.identityId)
    await this.#evaluate(undefined)
    this.#model.restore()
  }

  /** Evaluates the tenant. After a kill, the message is delivered again. */
  async #evaluate(kill: 'before' | 'after' | undefined): Promise<void> {
    const { world } = this.#office
    await this.#office.killedAt(kill, () => this.#office.service.evaluator.evaluate(world.tenantId))
    await this.#office.service.evaluator.evaluate(world.tenantId)
  }

  /** Time passes, with the daily look of the sweep. The last tick can be killed; its messages are delivered again. */
  async #pass(hours: number, kill: 'before' | 'after' | undefined): Promise<void> {
    const { world } = this.#office
    for (let left = hours; left > 0; left -= 20) {
      world.pass(Math.min(left, 20) * 3600)
      if (world.nowMs() - this.#lookedAtMs >= DAY_MS) {
        this.#lookedAtMs = world.nowMs()
        await this.#office.service.links.deadlines.enqueue(world.tenantId)
      }
      // A look that comes late finds what was missed, and its messages come within the minute.
      const messages = world.enqueued.splice(0).filter(({ queue }) => queue === 'deadlines')
      this.#messages.push(...messages)
      await this.#office.killedAt(left <= 20 ? kill : undefined, () => this.#deliver())
      await this.#deliver()
    }
    this.#model.advance(world.nowMs())
  }

  /** Delivers what is due, and keeps it until all of it was handled. */
  async #deliver(): Promise<void> {
    const nowMs = this.#office.world.nowMs()
    const isDue = ({ queue, message }: Message) => queue === 'deadlines' && message.dueAtMs <= nowMs
    for (const { message } of this.#messages.filter(isDue)) {
      await this.#office.service.messages.deadlines.handle(message)
    }
    this.#messages = this.#messages.filter((message) => !isDue(message))
  }

  /** The newest request of the subject in the collection. */
  async #findRequest(): Promise<void> {
    const { call, world } = this.#office
    const path = `${world.requests}/${this.#collectionId}?pageSize=1`
    const { data } = await call<MembershipRequestDto[]>(world.admin, 'GET', path)
    this.#request = data[0]
  }

  async #compare(): Promise<void> {
    const { call, world } = this.#office
    const expected = this.#model.request
    assert.equal(this.#request === undefined, expected === undefined, 'a request')
    if (this.#request === undefined || expected === undefined) return
    const { data: found } = await call<MembershipRequestDto>(
      world.admin,
      'GET',
      `${world.requests}/${this.#collectionId}/${this.#request.id}`,
    )
    const model = this.#model
    const gateOf = (waiting: DeadlinesModel['waiting']) =>
      waiting && {
        order: waiting.gate.order,
        type: waiting.gate.type,
        approverCount: model.approversAt(waiting.gate, waiting.sinceMs).size,
      }
    const { waiting, extension } = expected
    const isJoined = expected.status === 'Joined'
    assert.deepEqual(
      {
        status: found.status,
        endsAt: found.endsAt && Date.parse(found.endsAt),
        gate: found.currentGate ?? undefined,
        extension: found.extension && { endMs: Date.parse(found.extension.endsAt), gate: found.extension.currentGate },
      },
      {
        status: expected.status,
        endsAt: expected.endMs ?? null,
        gate: gateOf(isJoined ? undefined : waiting),
        extension: isJoined && extension !== undefined ? { endMs: extension.endMs, gate: gateOf(extension) } : null,
      },
    )
    for (const name of DECIDERS) await this.#compareInbox(name, this.#request.id)
  }

  async #compareInbox(name: Name, requestId: string): Promise<void> {
    if (this.#model.merged.has(name)) return
    const { call, world } = this.#office
    const { data } = await call<{ id: string }[]>(this.#token(name), 'GET', `${world.requests}/inbox`)
    assert.equal(
      data.some(({ id }) => id === requestId),
      this.#model.mayDecide(name),
      `the inbox of ${name}`,
    )
  }
}

function endMs(model: DeadlinesModel, afterDays: number): number {
  return model.nowMs + afterDays * DAY_MS - HALF_HOUR_MS
}

function applied(model: DeadlinesModel, action: Action): boolean {
  const given = 'days' in action && action.days !== undefined ? endMs(model, action.days) : undefined
  switch (action.kind) {
    case 'submit':
      return model.submit(given)
    case 'admit':
      return model.admit(given)
    case 'extend':
      return model.extend(given ?? endMs(model, 1))
    case 'approve':
      return model.approve(action.by as Name)
    case 'reject':
      return model.reject(action.by as Name)
    case 'leave':
      return model.leave()
    case 'cancel':
      return model.cancel()
  }
}

function joinPolicyOf(
  { gates: all, maxDays, requestDays }: ModelPolicy,
  people: ReadonlyMap<Name, Person>,
  boardId: string,
): object {
  const fallbackOf = (approvers: readonly Name[] | 'board') =>
    approvers === 'board'
      ? { type: 'Collection', approvers: [boardId] }
      : { type: 'Identity', approvers: ids(approvers) }
  const ids = (names: readonly Name[]) => names.flatMap((name) => people.get(name)?.identityId ?? [])
  return {
    approvalRequired: all.length > 0,
    approvalGates: all.map(({ approvers, fallback: back, ...gate }) => ({
      ...gate,
      approvers: gate.type === 'Collection' ? [boardId] : ids(approvers),
      ...(back && { fallback: { afterDays: back.afterDays, ...fallbackOf(back.approvers) } }),
    })),
    ...(maxDays && { maxDays }),
    ...(requestDays && { requestDays }),
  }
}

/**
 * Compares requests of random policies, people, deputies and times with the model, also when processes are killed.
 * @throws Error with the seed.
 */
export async function checkDeadlines({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let from = 0; from < runs; from += RUNS_PER_WORLD_COUNT) {
    const office = await openOffice()
    try {
      const property = fc.asyncProperty(policies, openings, series, async (policy, opening, steps) => {
        const run = await Run.open(office, policy)
        for (const step of [...opening, ...steps]) {
          count(await run.take(step))
          count(run.status)
        }
      })
      await fc.assert(property, { numRuns: Math.min(RUNS_PER_WORLD_COUNT, runs - from), seed: seed + from })
    } finally {
      await office.world.cosmos.close()
    }
  }
  for (const what of [
    'Joined',
    'PendingApproval',
    'Left',
    'Cancelled',
    'Rejected',
    'merge',
    'deletedHours',
    'action',
    'manager',
    'board',
  ]) {
    assert.ok((seen.get(what) ?? 0) * 50 > runs, `${what} only ${seen.get(what)} times`)
  }
  assert.deepEqual(faults, [])
}
