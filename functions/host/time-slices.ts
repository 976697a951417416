import { CooperativeScheduler } from '../../shared/domain/time-slices.ts'
import { elapsedMs } from './clock.ts'

/** What all long computations of the process take turns by. */
export const scheduler = new CooperativeScheduler(elapsedMs)
