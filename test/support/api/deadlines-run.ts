import assert from 'node:assert/strict'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { DAY_MS, DeadlinesModel, HOUR_MS, type ModelPolicy, type Name, PEOPLE } from './deadlines-model.ts'
import { type Action, DECIDERS, type Step } from './deadlines-steps.ts'
import { OPEN, type Person } from './joinable-fixture.ts'
import type { MortalTenant } from './mortal-tenant.ts'

/** Ends lie between the hours at which things are done. */
const HALF_HOUR_MS = HOUR_MS / 2

/** A request and its model, side by side. Each step is taken by both, and both are compared. */
export class DeadlinesRun {
  readonly #tenant: MortalTenant
  readonly #people: ReadonlyMap<Name, Person>
  readonly #collectionId: string
  readonly #boardId: string
  readonly #positionId: string
  readonly #model: DeadlinesModel
  #request: MembershipRequestDto | undefined
  #messages: Message[] = []
  #lookedAtMs = 0

  private constructor(
    tenant: MortalTenant,
    people: ReadonlyMap<Name, Person>,
    ids: { readonly collectionId: string; readonly boardId: string; readonly positionId: string },
    policy: ModelPolicy,
  ) {
    this.#tenant = tenant
    this.#people = people
    this.#collectionId = ids.collectionId
    this.#boardId = ids.boardId
    this.#positionId = ids.positionId
    this.#model = new DeadlinesModel(policy, tenant.fixture.nowMs())
  }

  static async open(tenant: MortalTenant, policy: ModelPolicy): Promise<DeadlinesRun> {
    const { fixture } = tenant
    const people = new Map<Name, Person>()
    for (const name of PEOPLE) people.set(name, await fixture.person())
    const [subject, manager] = [people.get('subject'), people.get('manager')]
    if (subject === undefined || manager === undefined) throw new Error('There are no people')
    const positionId = await fixture.position(subject, { manager: { objectId: manager.identityId } })
    const boardId = await fixture.joinable(OPEN)
    const collectionId = await fixture.joinable(joinPolicyOf(policy, people, boardId))
    return new DeadlinesRun(tenant, people, { collectionId, boardId, positionId }, policy)
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
      await this.#tenant.killedAt(step.kill, () => this.#put(step.edit))
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
    await this.#tenant.killedAt(kill, async () => {
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
    const { call, fixture } = this.#tenant
    const base = `${fixture.requests}/${this.#collectionId}`
    const one = `${base}/${this.#request?.id ?? crypto.randomUUID()}`
    const end = 'days' in action && action.days !== undefined ? { endsAt: this.#endText(action.days) } : {}
    switch (action.kind) {
      case 'submit':
        return call(this.#token('subject'), 'POST', `${base}/submit`, end)
      case 'admit': {
        const path = `/collections-joinable/beta/${this.#collectionId}/results/members`
        return call(fixture.admin, 'POST', path, { coreIdentityIds: [this.#id('subject')], ...end })
      }
      case 'extend':
        return call(fixture.admin, 'POST', `${one}/extend`, { endsAt: this.#endText(action.days ?? 1) })
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
    const { status } = await this.#tenant.call(this.#tenant.fixture.admin, 'PUT', path, body)
    assert.ok(status === 200 || status === 500, `The policy was answered with ${status}`)
  }

  async #setDeputy({ deputy: [of, to], fromDays, days: forDays }: Extract<Step, { deputy: unknown }>): Promise<void> {
    const model = this.#model
    if (model.merged.has(of) || model.merged.has(to)) return
    const fromMs = model.nowMs + fromDays * DAY_MS - HALF_HOUR_MS
    const untilMs = fromMs + forDays * DAY_MS
    const [from, until] = [new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]
    const path = `${this.#tenant.fixture.requests}/deputy`
    const { status } = await this.#tenant.call(this.#token(of), 'PUT', path, { deputyId: this.#id(to), from, until })
    assert.equal(status, 200)
    model.deputies.set(of, { to, fromMs, untilMs })
  }

  async #move(manager: Name): Promise<void> {
    if (this.#model.merged.has(manager)) return
    await this.#putPosition(manager)
    await this.#evaluate(undefined)
    this.#model.manager = manager
  }

  async #changeBoard(name: Name): Promise<void> {
    const { board, merged } = this.#model
    if (merged.has(name)) return
    const { call, fixture } = this.#tenant
    const path = `/collections-joinable/beta/${this.#boardId}/results/members`
    const { status } = await call(fixture.admin, board.has(name) ? 'DELETE' : 'POST', path, {
      coreIdentityIds: [this.#id(name)],
    })
    assert.equal(status, 200)
    if (!board.delete(name)) board.add(name)
  }

  async #merge([from, to]: readonly [Name, Name], kill: 'before' | 'after' | undefined): Promise<void> {
    const { fixture } = this.#tenant
    await fixture.remove('identity', this.#id(from), { ttl: 90 * 86_400, mergedInto: this.#id(to) })
    // What refers to the one who is merged follows.
    if (this.#model.manager === from) await this.#putPosition(to)
    await this.#evaluate(kill)
    this.#model.merge(from, to)
  }

  async #putPosition(manager: Name): Promise<void> {
    const attributes = {
      identity: { objectId: this.#id('subject') },
      manager: { objectId: this.#id(manager) },
    }
    await this.#tenant.fixture.put('relationship', attributes, this.#positionId)
  }

  async #deleteAndRestore(hours: number): Promise<void> {
    const { fixture } = this.#tenant
    const subject = this.#people.get('subject')
    if (subject === undefined) return
    await fixture.remove('identity', subject.identityId, { ttl: 90 * 86_400 })
    await this.#evaluate(undefined)
    this.#model.remove()
    await this.#pass(hours, undefined)
    const attributes = { displayName: 'Somebody', directoryObjectId: subject.account }
    await fixture.put('identity', attributes, subject.identityId)
    await this.#evaluate(undefined)
    this.#model.restore()
  }

  /** Evaluates the tenant. After a kill, the message is delivered again. */
  async #evaluate(kill: 'before' | 'after' | undefined): Promise<void> {
    const { fixture } = this.#tenant
    await this.#tenant.killedAt(kill, () => this.#tenant.service.evaluator.evaluate(fixture.tenantId))
    await this.#tenant.service.evaluator.evaluate(fixture.tenantId)
  }

  /** Time passes, with the daily look of the sweep. The last tick can be killed; its messages are delivered again. */
  async #pass(hours: number, kill: 'before' | 'after' | undefined): Promise<void> {
    const { fixture } = this.#tenant
    for (let left = hours; left > 0; left -= 20) {
      fixture.pass(Math.min(left, 20) * 3600)
      if (fixture.nowMs() - this.#lookedAtMs >= DAY_MS) {
        this.#lookedAtMs = fixture.nowMs()
        await this.#tenant.service.links.deadlines.enqueue(fixture.tenantId)
      }
      // A look that comes late finds what was missed, and its messages come within the minute.
      const messages = fixture.enqueued.splice(0).filter(({ queue }) => queue === 'deadlines')
      this.#messages.push(...messages)
      await this.#tenant.killedAt(left <= 20 ? kill : undefined, () => this.#deliver())
      await this.#deliver()
    }
    this.#model.advance(fixture.nowMs())
  }

  /** Delivers what is due, and keeps it until all of it was handled. */
  async #deliver(): Promise<void> {
    const nowMs = this.#tenant.fixture.nowMs()
    const isDue = ({ queue, message }: Message) => queue === 'deadlines' && message.dueAtMs <= nowMs
    for (const { message } of this.#messages.filter(isDue)) {
      await this.#tenant.service.messages.deadlines.handle(message)
    }
    this.#messages = this.#messages.filter((message) => !isDue(message))
  }

  /** The newest request of the subject in the collection. */
  async #findRequest(): Promise<void> {
    const { call, fixture } = this.#tenant
    const path = `${fixture.requests}/${this.#collectionId}?pageSize=1`
    const { data } = await call<MembershipRequestDto[]>(fixture.admin, 'GET', path)
    this.#request = data[0]
  }

  async #compare(): Promise<void> {
    const { call, fixture } = this.#tenant
    const expected = this.#model.request
    assert.equal(this.#request === undefined, expected === undefined, 'a request')
    if (this.#request === undefined || expected === undefined) return
    const { data: found } = await call<MembershipRequestDto>(
      fixture.admin,
      'GET',
      `${fixture.requests}/${this.#collectionId}/${this.#request.id}`,
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
    const { call, fixture } = this.#tenant
    const { data } = await call<{ id: string }[]>(this.#token(name), 'GET', `${fixture.requests}/inbox`)
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
