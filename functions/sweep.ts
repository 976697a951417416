import { app } from '@azure/functions'
import { ringForSweeps } from '../shared/domain/links/sweep.ts'
import { nowMs } from './host/foundation.ts'
import { linkDependencies } from './host/group-link.ts'
import { observedTimer } from './host/observed-invocation.ts'

/** Every tenant once an hour, each in its own minute, so that they do not all ask the directory at once. */
app.timer('sweep-of-the-minute', {
  schedule: '0 * * * * *',
  handler: (_timer, context) =>
    observedTimer('sweep-of-the-minute', context, () =>
      ringForSweeps(new Date(nowMs()).getUTCMinutes(), linkDependencies),
    ),
})

/**
 * Every tenant at once, for whoever fires it by hand. A function of its own, because a timer is not told whether its
 * schedule or a hand has fired it; the schedule that it has to have comes round once a year.
 */
app.timer('sweep', {
  schedule: '0 0 3 1 1 *',
  handler: (_timer, context) => observedTimer('sweep', context, () => ringForSweeps(undefined, linkDependencies)),
})
