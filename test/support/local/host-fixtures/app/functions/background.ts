import { setTimeout as sleep } from 'node:timers/promises'
import { app } from '@azure/functions'
import { observed } from '../../observed.ts'

app.serviceBusQueue('message', {
  connection: 'BUS',
  queueName: 'messages',
  handler: async (message, context) => {
    observed.messages.push({ message, metadata: context.triggerMetadata })
    observed.traces.push(context.traceContext)
    const { fail, delayMs } = Object(message) as { fail?: string; delayMs?: number }
    if (fail) throw new Error(fail)
    if (delayMs) await sleep(delayMs)
    observed.ended.push('message')
  },
})

app.serviceBusQueue('second', { connection: 'BUS', queueName: 'others', handler: () => {} })

app.timer('hourly', {
  schedule: '0 0 * * * *',
  retry: { strategy: 'fixedDelay', maxRetryCount: 2, delayInterval: 10 },
  handler: (timer, context) => {
    observed.timerRuns.push({ timer, retryContext: context.retryContext })
    if (observed.timerFailures-- > 0) throw new Error('the timer failed')
  },
})

app.hook.appTerminate(() => void observed.ended.push('app'))
