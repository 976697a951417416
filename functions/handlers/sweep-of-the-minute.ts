import type { Timer, TimerHandler } from '@azure/functions'
import { ringForNewDay, ringForSweeps } from '../../shared/domain/links/sweep.ts'
import { minutesSince } from '../../shared/domain/links/sweep-minute.ts'
import { nowMs } from '../host/clock.ts'
import { linkDependencies } from '../host/group-link.ts'
import { observedTimer } from '../host/observed-invocation.ts'

/**
 * Rings for the tenants of the minutes since the last run; the failure of one of the two does not keep the other from
 * being done.
 */
export const handle: TimerHandler = (timer, context) =>
  observedTimer(context, async () => {
    const lastMs = lastRunMs(timer)
    const minutes = minutesSince(lastMs, nowMs())
    try {
      await ringForNewDay(lastMs, linkDependencies)
    } finally {
      await ringForSweeps(minutes, linkDependencies)
    }
  })

/** The host says year 1 where the timer has not run yet. */
const EARLIEST_MS = Date.parse('2020-01-01T00:00:00Z')

function lastRunMs({ scheduleStatus }: Timer): number | undefined {
  const lastMs = Date.parse(scheduleStatus?.last ?? '')
  return lastMs >= EARLIEST_MS ? lastMs : undefined
}
