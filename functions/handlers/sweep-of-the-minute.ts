import type { TimerHandler } from '@azure/functions'
import { enqueueDailyEvaluations, enqueueSweeps } from '../../shared/domain/links/sweep.ts'
import { nowMs } from '../host/clock.ts'
import { linkDependencies } from '../host/group-link.ts'
import { observedTimer } from '../host/observed-invocation.ts'

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
