import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { leaseDecision } from '../../kernel/lease.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import {
  type Attempt,
  afterAttempt,
  failingSinceEnabled,
  hasFailedTooLong,
  isGone,
  isSuccess,
  nextDueMs,
  type StoredDelivery,
  unavailableAt,
} from './delivery.ts'
import type { DeliveryBatch, EventDependencies, Lane } from './event-stores.ts'
import { cloudEvent } from './event-types.ts'
import { notifyLane } from './publish-events.ts'
import { isEnabled, type Subscription, secretsOf } from './subscription.ts'

/** Requests to one receiver at a time. */
const REQUESTS_AT_ONCE_COUNT = 20
/** After this number of requests without an answer, a receiver gets no further ones in a run. */
const SILENT_COUNT = 3
/** A run begins no batch later than this, and no request of a batch later than that after the batch. */
const RUN_MS = 15_000
const BATCH_MS = 15_000
/**
 * Longer than a run with its last requests. Shorter than the lock of a message: that of a worker that has crashed comes
 * again when its time is over. Where clocks differ by more, two workers deliver, and a receiver gets an event twice, with
 * the same `id`.
 */
const LANE_MS = 55_000
/**
 * An invocation ends after this time and leaves its requests to run, so that receivers that do not answer occupy none of
 * the few invocations of an instance. If the process ends meanwhile, a message has the rest delivered.
 */
const INVOCATION_MS = 1_000

type Name = { readonly tenantId: string; readonly subscriptionId: string }

/** Delivers what is due for a subscription, unless another worker does it now, which then looks again before it ends. */
export async function deliverEvents(name: Name, deps: EventDependencies): Promise<void> {
  const { tenantId, subscriptionId } = name
  const lane = await acquire(name, deps)
  if (lane === 'held') return
  let hasEnded = false
  const run = new Run(name, lane, deps).run().finally(() => {
    hasEnded = true
  })
  try {
    await Promise.race([run, deps.sleep(INVOCATION_MS)])
    if (hasEnded) return
  } catch (fault) {
    // The next delivery of this message finds the subscription held where it could not be released.
    await notifyLane(tenantId, subscriptionId, deps, LANE_MS)
    throw fault
  }
  run.catch((error: unknown) => deps.log.error('events.delivery-failed', error, { tenantId, subscriptionId }))
  await notifyLane(tenantId, subscriptionId, deps, LANE_MS)
}

type HeldLane = { readonly lane: Lane; readonly version: string }

async function acquire(
  { tenantId, subscriptionId }: Name,
  deps: Pick<EventDependencies, 'lanes' | 'newId' | 'nowMs'>,
): Promise<HeldLane | 'held'> {
  const found = await deps.lanes.find(tenantId, subscriptionId)
  const { owner = null, untilMs = 0 } = found?.value ?? {}
  const times = { leaseMs: LANE_MS, clockDifferenceMs: 0 }
  const decision = leaseDecision({ owner, untilMs, epoch: 0 }, times, deps.nowMs())
  if (decision.outcome === 'held') return 'held'
  const lane = { ...found?.value, subscriptionId, owner: deps.newId(), untilMs: decision.untilMs }
  const version = await deps.lanes.save(tenantId, lane, found?.version)
  return version === undefined ? 'held' : { lane, version }
}

/** Whether more may be due, nothing is due, or the subscription gets nothing now. */
type Outcome = 'more' | 'none' | 'stopped'

class Run {
  readonly #name: Name
  readonly #lane: HeldLane
  readonly #deps: EventDependencies
  readonly #startMs: number
  readonly #retriesMs = new Set<number>()
  #failingSinceMs: number | undefined
  /** The subscription as read for the attempts. */
  #attempted: Pick<Subscription, 'sinceMs' | 'url'> | undefined
  #silentCount = 0
  #hasFailed = false
  #isGone = false

  constructor(name: Name, lane: HeldLane, deps: EventDependencies) {
    this.#name = name
    this.#lane = lane
    this.#deps = deps
    this.#startMs = deps.nowMs()
    this.#failingSinceMs = lane.lane.failingSinceMs
  }

  async run(): Promise<void> {
    const { tenantId, subscriptionId } = this.#name
    let outcome: Outcome = 'more'
    let isFailing = false
    try {
      while (outcome === 'more' && !this.#isLate()) outcome = await this.#deliverSome()
      isFailing = this.#hasFailed && hasFailedTooLong(this.#failingSinceMs, this.#deps.nowMs())
      // Without this, the time in which nothing is to be received would count as well.
      if (outcome === 'none' && !(await this.#hasWaiting())) this.#failingSinceMs = undefined
    } finally {
      await this.#release()
    }
    const isToDisable = this.#isGone || isFailing
    if (isToDisable && (await this.#disable(this.#isGone ? 'Gone' : 'Failing'))) return
    // Messages of events that were stored since the last look have found the subscription held, and so has that of a
    // change that keeps it enabled.
    const isMoreDue = isToDisable || outcome === 'more' || (outcome === 'none' && (await this.#due()).length > 0)
    if (isMoreDue) this.#retriesMs.add(0)
    for (const dueMs of this.#retriesMs) {
      await notifyLane(tenantId, subscriptionId, this.#deps, Math.max(0, dueMs - this.#deps.nowMs()))
    }
  }

  async #deliverSome(): Promise<Outcome> {
    const { tenantId, subscriptionId } = this.#name
    const { subscriptions, deliveries } = this.#deps
    const all = (await subscriptions.read(tenantId)).value
    const subscription = all.find(({ id }) => id === subscriptionId)
    if (subscription === undefined) {
      await deliveries.removeAll(tenantId, subscriptionId)
      return 'stopped'
    }
    if (!isEnabled(subscription)) return 'stopped'
    this.#attempted = subscription
    this.#failingSinceMs = failingSinceEnabled(this.#failingSinceMs, subscription.sinceMs)
    const due = await this.#due()
    for (const { value, version } of due) {
      if (this.#isLate()) return 'more'
      const attempted = await this.#attempt(value, subscription)
      await deliveries.replace(attempted, version)
      const dueMs = nextDueMs(attempted.deliveries)
      // To the second, so that the retries of many batches share a message.
      if (dueMs !== undefined) this.#retriesMs.add(Math.ceil(dueMs / 1000) * 1000)
      if (this.#isGone) return 'stopped'
    }
    return due.length > 0 ? 'more' : 'none'
  }

  #isLate(): boolean {
    return this.#deps.nowMs() - this.#startMs >= RUN_MS
  }

  #due(): Promise<readonly Versioned<DeliveryBatch>[]> {
    const { tenantId, subscriptionId } = this.#name
    return this.#deps.deliveries.due(tenantId, subscriptionId, this.#deps.nowMs())
  }

  /** Whether a further attempt will be made. Read only after earlier failures, in a run without a failure to retry. */
  async #hasWaiting(): Promise<boolean> {
    const { tenantId, subscriptionId } = this.#name
    if (this.#failingSinceMs === undefined || this.#retriesMs.size > 0) return true
    return (await this.#deps.deliveries.waitingCount(tenantId, subscriptionId)) > 0
  }

  /** Events of one subject are sent in order, those of several at the same time. */
  async #attempt(batch: DeliveryBatch, subscription: Subscription): Promise<DeliveryBatch> {
    const startMs = this.#deps.nowMs()
    const attempted = [...batch.deliveries]
    const due = [...batch.deliveries.entries()].filter(
      ([, delivery]) => delivery.state === 'Pending' && delivery.dueAtMs <= startMs,
    )
    const bySubject = Map.groupBy(due, ([, { event }]) => event.subject).values()
    await forEachConcurrent(bySubject, REQUESTS_AT_ONCE_COUNT, async (ofSubject) => {
      for (const [index, delivery] of ofSubject) {
        if (this.#isGone || this.#deps.nowMs() - startMs > BATCH_MS) return
        attempted[index] = afterAttempt(delivery, await this.#send(delivery, subscription))
      }
    })
    return { ...batch, deliveries: attempted }
  }

  async #send({ event }: StoredDelivery, subscription: Subscription): Promise<Attempt> {
    const { sender, metrics, nowMs } = this.#deps
    if (this.#silentCount >= SILENT_COUNT) return unavailableAt(nowMs())
    const message = { id: event.id, body: JSON.stringify(cloudEvent(this.#name.tenantId, event)) }
    const attempt = await sender.send(subscription, secretsOf(subscription, nowMs()), message)
    this.#silentCount = attempt.status === null ? this.#silentCount + 1 : 0
    this.#isGone ||= isGone(attempt)
    if (isSuccess(attempt)) this.#failingSinceMs = undefined
    else this.#failingSinceMs ??= Date.parse(attempt.at)
    this.#hasFailed ||= !isSuccess(attempt)
    metrics.record('events.deliveries', 1, { outcome: isSuccess(attempt) ? 'Delivered' : 'Failed' })
    if (isSuccess(attempt)) metrics.record('events.latency', nowMs() - Date.parse(event.time), {})
    return attempt
  }

  async #release(): Promise<void> {
    const { failingSinceMs: _before, ...lane } = this.#lane.lane
    const failing = this.#failingSinceMs === undefined ? {} : { failingSinceMs: this.#failingSinceMs }
    await this.#deps.lanes.save(
      this.#name.tenantId,
      { ...lane, ...failing, owner: null, untilMs: 0 },
      this.#lane.version,
    )
  }

  /**
   * Other subscriptions and the operators get an event, stored in the transaction of the change. A subscription that was
   * enabled again since the attempts, or has another address, stays enabled.
   * @returns Whether it was disabled.
   */
  async #disable(reason: 'Gone' | 'Failing'): Promise<boolean> {
    const { tenantId, subscriptionId } = this.#name
    const { subscriptions, log, metrics, nowMs } = this.#deps
    const isDisabled = await retryOnConflict(async () => {
      const { value, version } = await subscriptions.read(tenantId)
      const disabled = value.map((subscription) =>
        subscription.id === subscriptionId && isEnabled(subscription) && this.#wasAttempted(subscription)
          ? { ...subscription, state: 'Disabled' as const, disabledReason: reason, revision: subscription.revision + 1 }
          : subscription,
      )
      if (disabled.every((subscription, index) => subscription === value[index])) return false
      const disabling = { subscriptionId, reason, at: toTimestamp(nowMs()) }
      await subscriptions.replace(tenantId, disabled, version, disabling)
      return true
    })
    if (!isDisabled) return false
    metrics.record('subscriptions.disabled', 1, { reason })
    log.warn('events.subscription-disabled', { tenantId, subscriptionId, reason })
    return true
  }

  #wasAttempted({ sinceMs, url }: Subscription): boolean {
    return sinceMs === this.#attempted?.sinceMs && url === this.#attempted.url
  }
}
