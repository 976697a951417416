import { app } from '@azure/functions'
import { onSchedule } from './app/triggers.ts'

/**
 * Sweeps every tenant once an hour, each in a minute of its own: the calls to the directory are spread over the hour.
 */
app.timer(
  'schedule-sweeps',
  onSchedule('0 * * * * *', ({ sweeps }, lastMs) => sweeps.since(lastMs)),
)

// The functions below are invoked by operators only. Each is a function of its own, because a timer function cannot see
// whether its schedule or an operator invoked it. A schedule is required. The app settings disable the functions, so that
// no schedule runs them; the master key still does. On Linux, only a name without a hyphen can be disabled:
// https://learn.microsoft.com/azure/azure-functions/disable-function

/** Sweeps all tenants at once. */
app.timer(
  'sweep',
  onSchedule('0 0 3 1 1 *', ({ sweeps }) => sweeps.ofAllTenants()),
)

/** Sweeps all tenants after a restore of the database, whose containers can be some seconds apart. */
app.timer(
  'sweepAfterRestore',
  onSchedule('0 0 3 1 1 *', ({ sweeps }) => sweeps.afterRestore()),
)
