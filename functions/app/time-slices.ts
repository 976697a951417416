import { CooperativeScheduler } from '../../shared/kernel/cooperative-scheduler.ts'
import { elapsedMs } from './clock.ts'

/** What all long computations of the process take turns by. */
export const scheduler = new CooperativeScheduler(elapsedMs)
