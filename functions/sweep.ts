import { app } from '@azure/functions'
import { onSchedule } from './app/triggers.ts'

/**
 * Sweeps every tenant once an hour, each in a minute of its own: the calls to the directory are spread over the hour.
 */
app.timer(
  'schedule-sweeps',
  onSchedule('0 * * * * *', ({ sweeps }, lastMs) => sweeps.since(lastMs)),
)

/**
 * Sweeps all tenants at once. Meant to be invoked by an operator; it is a function of its own because a timer function
 * cannot see whether its schedule or an operator invoked it. A schedule is required; this one is due once a year.
 */
app.timer(
  'sweep',
  onSchedule('0 0 3 1 1 *', ({ sweeps }) => sweeps.ofAllTenants()),
)

/**
 * Sweeps all tenants after a restore of the database, whose containers can be some seconds apart. Invoked by an operator,
 * as `sweep` is.
 */
app.timer(
  'sweep-after-restore',
  onSchedule('0 0 3 1 1 *', ({ sweeps }) => sweeps.afterRestore()),
)
