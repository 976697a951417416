import { app } from '@azure/functions'
import { onSchedule } from './app/triggers.ts'

/** Every tenant once an hour, each in its own minute, so that they do not all ask the directory at once. */
app.timer(
  'sweep-of-the-minute',
  onSchedule('0 * * * * *', () => import('./handlers/sweep-of-the-minute.ts')),
)

/**
 * Every tenant at once, for whoever fires it by hand. A function of its own, because a timer is not told whether its
 * schedule or a hand has fired it; the schedule that it has to have comes round once a year.
 */
app.timer(
  'sweep',
  onSchedule('0 0 3 1 1 *', () => import('./handlers/sweep.ts')),
)
