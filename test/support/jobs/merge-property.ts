import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { MergeServers } from './merge-servers.ts'
import { type Member, MergingTenant, type State } from './merging-tenant.ts'
import { type Continued, PeopleOutcome } from './people-outcome.ts'
import {
  COLLECTION_TYPES,
  CONNECTORS_COUNT,
  faultsOf,
  hasOneOutcome,
  LINKED,
  peopleStart,
  peopleSteps,
  type RekeyStep,
  type Start,
  type Step,
  type WriteStep,
} from './people-steps.ts'

/** A tenant of its own for each run. The file grows. */
const RUNS_PER_ACCOUNT_COUNT = 500

/**
 * Carries out a step in a tenant.
 * @param hasFaults False to leave its faults out.
 * @returns The outcomes in which the step can have ended, and who goes on under another id.
 */
async function perform(step: Step, tenant: MergingTenant, outcome: PeopleOutcome, hasFaults: boolean): Promise<Ended> {
  if (step.kind === 'write') return performWrite(step, tenant, outcome, hasFaults)
  if (step.kind === 'rekey') return performRekeying(step, tenant, outcome, hasFaults)
  if (step.kind === 'settings') {
    const faults = hasFaults ? step : { duringChange: undefined, duringAudit: undefined }
    const hasChanged = await tenant.change(step.connector, step.settings, faults)
    if (!hasChanged) assert.equal(faults.duringChange?.kind, 'abandoned')
    return { outcomes: [hasChanged ? changed(outcome, (each) => each.change(step.connector, step.settings)) : outcome] }
  }
  await tenant.changeMembers(step)
  await tenant.followed()
  return { outcomes: [outcome] }
}

type Ended = {
  readonly outcomes: readonly PeopleOutcome[]
  readonly continued?: Continued
  /** Who goes on under another id when a deletion is decided before a crossing write. */
  readonly doubles?: Continued
  /** Outcomes that there may have been for a moment, in which people may have been one. */
  readonly between?: readonly PeopleOutcome[]
  /** Those of them between two crossing writes. A person who is not in one of them may go on as another of the connector. */
  readonly crossed?: readonly PeopleOutcome[]
  /**
   * Whether an evaluation and a sync job may have seen the person deleted: waiting requests are cancelled and do not come
   * back, and the account leaves the group until the new record exists.
   */
  readonly isSeenDeleted?: boolean
}

async function performWrite(
  { connector, write, crossing, duringWrite, duringEvaluation }: WriteStep,
  tenant: MergingTenant,
  outcome: PeopleOutcome,
  hasFaults: boolean,
): Promise<Ended> {
  const own = (each: PeopleOutcome) => each.send(connector, write)
  const other = (each: PeopleOutcome) => crossing && each.send(crossing.connector, crossing.write)
  const fault = hasFaults ? duringWrite : undefined
  const meanwhile = crossing && {
    atCall: crossing.atCall,
    act: () => tenant.send(crossing.connector, [crossing.write]),
  }
  await tenant.work(fault, (service) => tenant.send(connector, [write], service), meanwhile)
  if (hasFaults && duringEvaluation !== undefined) await tenant.evaluate(duringEvaluation)
  await tenant.followed()
  // After an interrupted write, people whom another one has written meanwhile are joined by the next daily audit, and so
  // are those whose conflict two writes have ended at once.
  const endsConflict =
    crossing !== undefined &&
    outcome.canEndConflict(connector, write) &&
    outcome.canEndConflict(crossing.connector, crossing.write)
  const isInterrupted = fault !== undefined && (fault.kind === 'abandoned' || crossing !== undefined)
  if (isInterrupted || endsConflict) await tenant.auditedDaily()
  const crossed = crossing === undefined ? [] : [changed(outcome, own), changed(outcome, other)]
  const once = crossed.flatMap((each) => each.people())
  return {
    outcomes: [
      changed(outcome, own, other),
      ...(crossing ? [changed(outcome, other, own)] : []),
      ...(fault?.kind === 'abandoned' ? [changed(outcome, other)] : []),
      // Neither has seen the other, and the interrupted one has not looked again. Two of one connector that have joined
      // one person at once both stay.
      ...(crossing && (fault || crossing.connector === connector)
        ? [changed(outcome, own, other, (each) => each.wereOne(once))]
        : []),
    ],
    between: crossed,
    crossed,
    doubles: new Map([
      ...outcome.continuedInDouble(connector, write),
      ...(crossing ? outcome.continuedInDouble(crossing.connector, crossing.write) : []),
    ]),
  }
}

async function performRekeying(
  step: RekeyStep,
  tenant: MergingTenant,
  outcome: PeopleOutcome,
  hasFaults: boolean,
): Promise<Ended> {
  const batches = outcome.rekeying(step)
  const continued = outcome.continued(step)
  const fault = hasFaults ? step.duringWrite : undefined
  await tenant.work(fault, async (service) => {
    for (const batch of batches) await tenant.send(step.connector, batch, service)
  })
  await tenant.followed()
  if (fault?.kind === 'abandoned') await tenant.auditedDaily()
  const until = batches.map((_batch, index) =>
    changed(outcome, (each) => {
      for (const batch of batches.slice(0, index + 1)) each.sendAll(step.connector, batch)
    }),
  )
  const outcomes = [...until.toReversed(), outcome]
  const between = until.length > 1 ? [outcome, ...until.slice(0, 1)] : []
  const isSeenDeleted = step.how === 'deleted before' && fault?.kind === 'followed'
  return { outcomes: fault?.kind === 'abandoned' ? outcomes : outcomes.slice(0, 1), continued, between, isSeenDeleted }
}

function changed(outcome: PeopleOutcome, ...changes: readonly ((outcome: PeopleOutcome) => void)[]): PeopleOutcome {
  const copy = outcome.copy()
  for (const change of changes) change(copy)
  return copy
}

const inOrder = (members: readonly Member[]): string[] => members.map((member) => JSON.stringify(member)).sort()
const sharesOne = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.includes(one))
const isSame = (left: Member, right: Member): boolean =>
  left.collection === right.collection && (left.isWaiting || !right.isWaiting)

/** The memberships and requests that do not end with a position. */
const ofPeople = ({ members }: State): readonly Member[] =>
  members.filter(({ collection }) => COLLECTION_TYPES[collection] === 'Identity')
const linked = ({ members }: State): readonly Member[] => members.filter(({ collection }) => collection === LINKED)

/**
 * What every step keeps, with any faults.
 * @param lost Accounts that were removed from the group.
 */
function assertKept(
  before: State,
  after: State,
  {
    continued,
    doubles = new Map(),
    between = [],
    crossed = [],
    isSeenDeleted = false,
  }: Pick<Ended, 'between' | 'crossed' | 'doubles' | 'isSeenDeleted'> & { readonly continued: Continued },
  lost: readonly string[],
): void {
  const present = (person: readonly string[]) =>
    person.flatMap((id) => [id, continued.get(id) ?? []].flat()).filter((id) => after.live.has(id))
  const meanwhile = between.flatMap((outcome) => outcome.people())
  for (const member of ofPeople(before)) {
    if (isSeenDeleted && member.isWaiting) continue
    if (crossed.some((outcome) => !outcome.people().some((person) => sharesOne(person, member.person)))) continue
    if (present(member.person).length === 0) continue
    const joined = meanwhile.filter((person) => sharesOne(person, member.person))
    // The part that had the membership for a moment can be gone.
    if (joined.some((person) => present(person).length === 0)) continue
    const once = [...member.person, ...joined.flat()]
    const left = present([...once, ...once.flatMap((id) => doubles.get(id) ?? [])])
    const isMember = ofPeople(after).some((each) => isSame(member, each) && sharesOne(each.person, left))
    assert.ok(isMember, `A membership or request of ${member.person} in ${member.collection} was lost`)
  }
  for (const account of lost) {
    const held = before.accounts.get(account) ?? []
    if (isSeenDeleted && sharesOne(held, [...continued.keys()])) continue
    const holds = after.accounts.get(account) ?? []
    const isKept =
      sharesOne(present(held), holds) && isMemberIn(linked(before), held) && isMemberIn(linked(after), holds)
    assert.ok(!isKept, `The account ${account} of ${held} was removed from the group`)
  }
  for (const [account, person] of after.accounts) {
    const isMissing = isMemberIn(linked(after), person) && !after.group.has(account)
    assert.ok(!isMissing, `The account ${account} of ${person} is not in the group`)
  }
}

const isMemberIn = (members: readonly Member[], person: readonly string[]): boolean =>
  members.some((member) => JSON.stringify(member.person) === JSON.stringify(person))

/** Contributors who may be the same person as a member: those of one person, renamed, or with a join key of the connector. */
class Related {
  readonly #idsByKey = new Map<string, Set<string>>()
  readonly #members = new Set<string>()

  add(ids: readonly string[], keys: readonly string[]): void {
    for (const key of keys) for (const id of ids) this.#with(key).add(id)
  }

  #with(key: string): Set<string> {
    const known = this.#idsByKey.get(key) ?? new Set()
    this.#idsByKey.set(key, known)
    return known
  }

  send(outcome: PeopleOutcome, connector: number, write: ObjectWrite): void {
    if (write.objectType !== 'identity' || write.operation === 'delete') return
    const { nin, directoryObjectId, email } = write.data
    const id = outcome.idOf(connector, write.externalId)
    const keys = Object.entries({ nin, directoryObjectId, email }).filter(([, value]) => value !== undefined)
    this.add(
      [id],
      keys.map(([key, value]) => `${connector} ${key} ${value}`),
    )
    const { previousExternalId } = write as { previousExternalId?: string }
    if (previousExternalId === undefined) return
    const former = outcome.idOf(connector, previousExternalId)
    this.add([id, former], [`renamed ${id} ${former}`])
  }

  /** Notes the people who are members now. */
  note(state: State): void {
    for (const { person } of linked(state)) for (const id of person) this.#members.add(id)
  }

  assertMembers(after: State): void {
    for (const ids of this.#idsByKey.values()) {
      if (!ids.isDisjointFrom(this.#members)) for (const id of ids) this.#members.add(id)
    }
    for (const { person } of linked(after)) {
      assert.ok(sharesOne(person, [...this.#members]), `A membership came to ${person}`)
    }
    this.note(after)
  }
}

function writesOf(step: Step, outcome: PeopleOutcome): [connector: number, write: ObjectWrite][] {
  if (step.kind === 'rekey') {
    return outcome
      .rekeying(step)
      .flat()
      .map((write) => [step.connector, write])
  }
  if (step.kind !== 'write') return []
  const { connector, write, crossing } = step
  return [[connector, write], ...(crossing ? [[crossing.connector, crossing.write] as [number, ObjectWrite]] : [])]
}

async function converges(servers: MergeServers, begin: Start, steps: readonly Step[]): Promise<void> {
  const ids = Array.from({ length: CONNECTORS_COUNT + 1 }, () => randomUUID())
  const tenant = await MergingTenant.open(servers, ids)
  await tenant.begin(begin)
  await tenant.link()
  let outcome = PeopleOutcome.of(ids)
  const related = new Related()
  for (const [connector, writes] of begin.objects.entries()) {
    for (const write of writes) {
      outcome.send(connector, write)
      related.send(outcome, connector, write)
    }
  }
  let before = await tenant.state()
  related.note(before)
  const outcomes: PeopleOutcome[] = []
  for (const step of steps) {
    outcomes.push(outcome)
    for (const [connector, write] of writesOf(step, outcome)) related.send(outcome, connector, write)
    const lostCount = tenant.group.losses.length
    const ended = await perform(step, tenant, outcome, true)
    const { outcomes: possible, continued = new Map(), between = [] } = ended
    for (const person of between.flatMap((each) => each.people())) related.add(person, [`once ${person}`])
    outcome = await tenant.outcomeAmong(possible)
    const after = await tenant.state()
    const lost = tenant.group.losses.slice(lostCount).map(({ account }) => account)
    if (step.kind === 'join' || step.kind === 'leave') related.note(after)
    else {
      assertKept(before, after, { ...ended, continued }, lost)
      related.assertMembers(after)
    }
    before = after
  }
  const records = await tenant.records()
  await tenant.audited()
  assert.deepEqual(await tenant.records(), records, 'the core objects')
  if (!steps.some((step) => faultsOf(step).length > 0) || !steps.every(hasOneOutcome)) return
  const quiet = await MergingTenant.open(servers, ids)
  await quiet.begin(begin)
  for (const [index, step] of steps.entries()) await perform(step, quiet, outcomes[index] ?? outcome, false)
  const left = await quiet.state()
  const [is, expected] = [await tenant.checkedInFull(), await quiet.checkedInFull()]
  assert.deepEqual(inOrder(left.members), inOrder(expected.members), 'the members that no full pass has checked')
  assert.deepEqual(inOrder(is.members), inOrder(expected.members), 'the members')
  assert.deepEqual(await quiet.people(), await tenant.people())
}

/**
 * Checks random writes of three connectors about people that merge, part and get other external ids, and random changes of
 * what joins them, by instances that die, lose answers or meet each other at any call: at each step the people are those of a
 * model, and in the end core objects are the merge of their contributions, and memberships those without faults. No
 * membership and no request is lost while a part of the person remains, or goes on under another external id, and no
 * account is removed from the linked group while the person keeps it. @throws Error with the seed.
 */
export async function checkMerges({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  for (let from = 0; from < runs; from += RUNS_PER_ACCOUNT_COUNT) {
    const servers = await MergeServers.start()
    try {
      const property = fc.asyncProperty(peopleStart, peopleSteps, (begin, all) => converges(servers, begin, all))
      await fc.assert(property, { numRuns: Math.min(RUNS_PER_ACCOUNT_COUNT, runs - from), seed: seed + from })
    } finally {
      await servers.account.cosmos.close()
    }
  }
}
