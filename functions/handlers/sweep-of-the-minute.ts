import type { TimerHandler } from '@azure/functions'
import { enqueueDailyEvaluations, enqueueSweeps } from '../../shared/domain/sync/sweep.ts'
import { nowMs } from '../app/clock.ts'
import { linkDependencies } from '../app/group-link.ts'
import { observedTimer } from '../app/observed-invocation.ts'

/** Rings for the tenants of this minute; the failure of one of the two does not keep the other from being done. */
export const handle: TimerHandler = (_timer, context) =>
  observedTimer(context, async () => {
    const minute = new Date(nowMs()).getUTCMinutes()
    try {
      await enqueueDailyEvaluations(linkDependencies)
    } finally {
      await enqueueSweeps(minute, linkDependencies)
    }
  })
