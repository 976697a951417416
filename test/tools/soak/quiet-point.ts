import { setTimeout as sleep } from 'node:timers/promises'
import type { MembershipChange } from '../../../infra/local/directory/membership-changes.ts'
import type { Clocks } from './clocks.ts'
import { compareCollections } from './compare-collections.ts'
import { compareErased } from './compare-erased.ts'
import { compareEvents } from './compare-events.ts'
import { compareGroups, openJobs } from './compare-groups.ts'
import { compareHistory, type FormerMembers } from './compare-history.ts'
import { compareMails } from './compare-mails.ts'
import { comparePeople } from './compare-people.ts'
import { compareWaiting } from './compare-waiting.ts'
import { dayIn, daysFrom } from './day-model.ts'
import { forgetEndedDeputies, noteEndingDeputies } from './deputy-actions.ts'
import type { Host } from './hosts.ts'
import type { Organisation } from './organisation.ts'
import type { WaitingMessages } from './server-process.ts'
import type { RunningServers } from './servers.ts'
import { DAY_LASTS_MS } from './zone-actions.ts'

const POLL_MS = 100
/** Instances that the last faults have cut off from the queue send again within this time. */
const ENQUEUED_WITHIN_MS = 90_000
/** Time without any progress after which the clocks are advanced: what is left waits for a lease, a lock or a delay. */
const IDLE_MS = 300
const LOCKED_IDLE_MS = 1500
/** A function that runs can wait for a time that comes only when the clocks are advanced. */
const RUNNING_IDLE_MS = 15_000
/**
 * The first advance outlasts leases and most delays, the third one the lock of a killed instance. Memberships end up to a
 * day later.
 */
const FIRST_ADVANCE_MS = 60_000
const ADVANCE_FACTOR = 4
const LONGEST_ADVANCE_MS = 6 * 3_600_000
const OPEN_JOB_TRIES = 3
const DRAINED_WITHIN_MS = 180_000
/**
 * The service takes a read for late that shows an account which it removed in the last ten minutes: a person may have
 * added it by hand since.
 */
const READS_TRUSTED_AFTER_MS = 11 * 60_000

export type QuietPointDependencies = {
  readonly organisation: Organisation
  readonly servers: RunningServers
  readonly hosts: readonly Host[]
  readonly clocks: Clocks
  readonly clocksApartMs: number
  readonly formerMembers: FormerMembers
}

/**
 * Waits until all messages are processed, sweeps, and compares everything with the model. Requests and faults are
 * paused.
 * @returns the faults
 */
export async function quietPoint(deps: QuietPointDependencies): Promise<string[]> {
  const { organisation, servers } = deps
  // The timer has run at least once, so that it knows the minutes that have passed.
  await invoke('schedule-sweeps', deps)
  await drain(deps)
  deps.clocks.advance(READS_TRUSTED_AFTER_MS)
  // It runs by real time. For the minutes that have passed, it publishes events whose messages were lost.
  await fire('schedule-sweeps', deps)
  const swept = organisation.times.now()
  await sweepOfToday(deps)
  forgetEndedDeputies(organisation)
  const { faults, names } = await comparePeople(organisation)
  faults.push(...(await compareCollections(organisation, names)))
  const history = await compareHistory(organisation, names, deps.formerMembers, deps)
  faults.push(...history.faults, ...(await compareEvents(organisation, history.histories)))
  const writes = await newWrites(deps)
  faults.push(...(await compareGroups(organisation, writes)), ...organisation.watch.check(writes))
  faults.push(...(await compareMails(organisation)), ...(await compareWaiting(organisation, swept)))
  faults.push(...compareErased(organisation, servers.databaseFile), ...(await jobsThatStayOpen(deps)))
  const { deadLettered } = await servers.command('queue')<WaitingMessages>('counts')
  if (deadLettered > 0) faults.push(`${deadLettered} messages are dead letters`)
  faults.push(...organisation.api.lostAnswers.splice(0))
  organisation.changedNins.clear()
  noteEndingDeputies(organisation)
  organisation.pendingChanges.clear()
  organisation.model.releaseHolds()
  organisation.watch.restart()
  // Waiting for jobs can have advanced the clocks to another day, whose members are evaluated in the background.
  if (followDay(deps)) organisation.pendingChanges.add('day')
  return faults
}

/** Sweeps until the members are those of a day that lasts for some time. */
async function sweepOfToday(deps: QuietPointDependencies): Promise<void> {
  do {
    followDay(deps)
    await fire('sweep', deps)
    await drain(deps)
  } while (followDay(deps))
}

/** Enters a day that lasts for some time. Members can be evaluated on any of the days until then. */
function followDay({ organisation: { model, times, watch }, clocks }: QuietPointDependencies): boolean {
  const soon = () => dayIn(model.timeZone, times.now().latestMs + DAY_LASTS_MS)
  while (dayIn(model.timeZone, times.now().earliestMs) !== soon()) clocks.advance(DAY_LASTS_MS)
  const [former, day] = [model.today, soon()]
  for (const each of daysFrom(former, day)) {
    model.today = each
    watch.observe()
  }
  return day !== former
}

/** @throws Error when messages are left after three minutes */
async function drain({ servers, hosts, clocks }: QuietPointDependencies): Promise<void> {
  const command = servers.command('queue')
  const endMs = performance.now() + DRAINED_WITHIN_MS
  let progressMs = performance.now()
  let last = ''
  let advanceMs = FIRST_ADVANCE_MS
  for (;;) {
    const counts = await command<WaitingMessages>('counts')
    const { active, scheduled, locked } = counts
    if (active + scheduled + locked === 0) return
    const nowMs = performance.now()
    if (nowMs > endMs) throw new Error(`Messages are left: ${JSON.stringify(await command('countsByQueue'))}`)
    if (JSON.stringify(counts) !== last) progressMs = nowMs
    last = JSON.stringify(counts)
    const isRunning = (await Promise.all(hosts.map((host) => host.isIdle()))).includes(false)
    const idleMs = isRunning ? RUNNING_IDLE_MS : active + locked > 0 ? LOCKED_IDLE_MS : IDLE_MS
    if (nowMs - progressMs > idleMs) {
      clocks.advance(advanceMs)
      advanceMs = Math.min(ADVANCE_FACTOR * advanceMs, LONGEST_ADVANCE_MS)
      await command('processDue')
      progressMs = nowMs
    }
    await sleep(POLL_MS)
  }
}

/** The timer can sweep the tenant at any time: its jobs end as soon as their messages are processed. */
async function jobsThatStayOpen(deps: QuietPointDependencies): Promise<string[]> {
  let open = await openJobs(deps.organisation)
  for (let tries = 0; open.length > 0 && tries < OPEN_JOB_TRIES; tries += 1) {
    await drain(deps)
    open = await openJobs(deps.organisation)
  }
  return open
}

type TimerFunction = 'schedule-sweeps' | 'sweep'

/** Invokes a timer function by hand, in turn with its other runs. */
async function invoke(name: TimerFunction, { hosts }: QuietPointDependencies): Promise<void> {
  const response = await fetch(`${hosts[0]?.url}/admin/functions/${name}`, { method: 'POST', body: '{}' })
  if (response.status !== 202) throw new Error(`${name} was answered with ${response.status}`)
}

/** Invokes a timer function by hand, and waits until it has enqueued something. */
async function fire(name: TimerFunction, deps: QuietPointDependencies): Promise<void> {
  const command = deps.servers.command('queue')
  const { sent } = await command<WaitingMessages>('counts')
  await invoke(name, deps)
  for (const endMs = performance.now() + ENQUEUED_WITHIN_MS; performance.now() < endMs; await sleep(POLL_MS)) {
    if ((await command<WaitingMessages>('counts')).sent > sent) return
  }
  throw new Error(`${name} enqueued nothing`)
}

const lastSequence = new WeakMap<RunningServers, number>()

/** The changes of groups since the last quiet point. */
async function newWrites({ servers }: QuietPointDependencies): Promise<MembershipChange[]> {
  const since = lastSequence.get(servers) ?? 0
  const changes = await servers.command('directory')<MembershipChange[]>('membershipChanges', since)
  lastSequence.set(servers, changes.at(-1)?.sequence ?? since)
  return changes
}
