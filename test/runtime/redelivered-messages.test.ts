import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InvocationContext } from '@azure/functions'
import { observedMessage } from '../../functions/app/invocations.ts'
import type { MessageHandler } from '../../functions/app/message-handlers.ts'
import { buildRuntime } from '../../functions/app/runtime.ts'
import type { MessageQueue } from '../../shared/kernel/messages.ts'

const message = { tenantId: '00000000-0000-4000-8000-000000000001' }
const FAILURES_IN_AN_OUTAGE = 20

it('A message that fails again and again keeps its id, with the number of its failures, and is counted on', async () => {
  const sent: { id: string; failureCount: number | undefined }[] = []
  const messageQueue: MessageQueue = {
    enqueue: async (_message, { id, failureCount }) => void sent.push({ id, failureCount }),
  }
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const runtime = { ...buildRuntime({ logLevel: 'error' }, { log, random: () => 0.5 }), messageQueue }
  const handler: MessageHandler = {
    accepts: () => true,
    handle: () => Promise.reject(new Error('The database is away')),
  }
  for (let count = 0; count < FAILURES_IN_AN_OUTAGE; count += 1) {
    const { id = 'first', failureCount } = sent.at(-1) ?? {}
    const applicationProperties = failureCount === undefined ? {} : { failures: failureCount }
    const triggerMetadata = { messageId: id, deliveryCount: 1, applicationProperties }
    const context = { functionName: 'evaluate', triggerMetadata } as unknown as InvocationContext
    await observedMessage('evaluations', message, context, handler, runtime)
  }
  const expected = Array.from({ length: FAILURES_IN_AN_OUTAGE }, (_, index) => ({
    id: `first:again:${index + 1}`,
    failureCount: index + 1,
  }))
  assert.deepEqual(sent, expected)
})

it('A message without the schema of its queue is logged, and neither handled nor delivered again', async () => {
  const logged: string[] = []
  const log = { info: () => undefined, warn: () => undefined, error: (event: string) => void logged.push(event) }
  const unexpected = () => Promise.reject(new Error('Not expected'))
  const runtime = { ...buildRuntime({ logLevel: 'error' }, { log }), messageQueue: { enqueue: unexpected } }
  const context = { functionName: 'evaluate', triggerMetadata: { messageId: 'first', deliveryCount: 1 } }
  const handler: MessageHandler = { accepts: () => false, handle: unexpected }
  await observedMessage('evaluations', {}, context as unknown as InvocationContext, handler, runtime)
  assert.deepEqual(logged, ['message.malformed'])
})
