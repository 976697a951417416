import { setTimeout as sleep } from 'node:timers/promises'
import { app } from '@azure/functions'
import { observed } from '../../observed.ts'

app.serviceBusQueue('message', {
  connection: 'BUS',
  queueName: '%QUEUE%',
  handler: async (message, context) => {
    observed.messages.push({ message, metadata: context.triggerMetadata })
    observed.traces.push(context.traceContext)
    const { fail, delayMs } = Object(message) as { fail?: string; delayMs?: number }
    if (fail) throw new Error(fail)
    if (delayMs) await sleep(delayMs)
    observed.ended.push('message')
  },
})

app.serviceBusQueue('batch', {
  connection: 'BUS',
  queueName: 'batches',
  cardinality: 'many',
  handler: (messages, context) => void observed.batches.push({ messages, metadata: context.triggerMetadata }),
})

app.timer('hourly', {
  schedule: '%SCHEDULE%',
  retry: { strategy: 'fixedDelay', maxRetryCount: 2, delayInterval: 10 },
  handler: (timer, context) => {
    observed.timerRuns.push({ timer, retryContext: context.retryContext })
    if (observed.timerFailures-- > 0) throw new Error('the timer failed')
  },
})

app.hook.appTerminate(() => void observed.ended.push('app'))
