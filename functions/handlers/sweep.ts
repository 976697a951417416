import type { TimerHandler } from '@azure/functions'
import { enqueueSweeps } from '../../shared/domain/sync/sweep.ts'
import { linkDependencies } from '../app/group-link.ts'
import { observedTimer } from '../app/observed-invocation.ts'

/** Rings for all tenants at once, for whoever fires it by hand. */
export const handle: TimerHandler = (_timer, context) =>
  observedTimer(context, () => enqueueSweeps(undefined, linkDependencies))
