import type { TimerHandler } from '@azure/functions'
import { ringForNewDay, ringForSweeps } from '../../shared/domain/links/sweep.ts'
import { nowMs } from '../host/clock.ts'
import { linkDependencies } from '../host/group-link.ts'
import { observedTimer } from '../host/observed-invocation.ts'

export const handle: TimerHandler = (_timer, context) =>
  observedTimer(context, async () => {
    const minute = new Date(nowMs()).getUTCMinutes()
    try {
      await ringForNewDay(linkDependencies)
    } finally {
      await ringForSweeps(minute, linkDependencies)
    }
  })
