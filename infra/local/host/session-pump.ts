import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceBusReceivedMessage } from '@azure/service-bus'
import type { ServiceBusFunction } from './app-functions.ts'
import { type BusClient, RECEIVER_OPTIONS, type SessionReceiver } from './bus-client.ts'
import { whileLocked } from './lock-renewal.ts'
import { type ProcessingOptions, processMessage, settler } from './message-settlement.ts'

/** The wait before the next attempt to accept a session, after a failure. */
const RETRY_MS = 1000

/** What receives the messages of a queue. */
export type QueuePump = {
  /** Messages that are received after this call are left to others. */
  stopReceiving(): Promise<void>
  /** Resolves when the running handlers have ended and their messages are settled. */
  settled(): Promise<void>
  close(): Promise<void>
}

/**
 * Delivers the messages of a queue with sessions: of so many sessions at a time, each as long as messages come and its
 * lock is renewed. The service gives this receiver a session that no other one holds.
 */
export function startSessions(fn: ServiceBusFunction, client: BusClient, options: ProcessingOptions): QueuePump {
  const stopping = new AbortController()
  const { signal } = stopping
  const held = new Set<Promise<void>>()
  const acceptNext = async (): Promise<SessionReceiver | undefined> => {
    try {
      return await client.acceptNextSession(fn.queueName, RECEIVER_OPTIONS)
    } catch (error) {
      if (!isTimeout(error)) {
        const message = `Accepting a session of ${fn.queueName} failed`
        options.log({ level: 'error', category: 'host', message, functionName: fn.name, error })
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined)
      }
      return undefined
    }
  }
  const acceptAll = async () => {
    while (!signal.aborted) {
      if (held.size >= options.serviceBus.maxConcurrentSessions) {
        await Promise.race(held)
        continue
      }
      const receiver = await acceptNext()
      if (receiver === undefined) continue
      if (signal.aborted) {
        await receiver.close()
        return
      }
      const session = receiveSession(fn, receiver, signal, options).finally(() => held.delete(session))
      held.add(session)
    }
  }
  const accepting = acceptAll()
  return {
    async stopReceiving() {
      stopping.abort()
      await accepting
    },
    settled: async () => void (await Promise.all(held)),
    // A session is closed when it ends.
    close: async () => undefined,
  }
}

/** Never rejects. Ends when no message has come for the idle time, the session is lost, or the host stops. */
async function receiveSession(
  fn: ServiceBusFunction,
  receiver: SessionReceiver,
  stopping: AbortSignal,
  options: ProcessingOptions,
): Promise<void> {
  const { log, serviceBus } = options
  const settle = settler(fn, receiver, log)
  const running = new Set<Promise<void>>()
  const ended = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let isEnding = false
  let idle: NodeJS.Timeout | undefined
  const end = () => {
    isEnding = true
    clearTimeout(idle)
    ended.resolve()
  }
  const waitForMessages = () => {
    idle = isEnding ? undefined : setTimeout(end, serviceBus.sessionIdleTimeoutMs)
  }
  const onMessage = async (message: ServiceBusReceivedMessage) => {
    // The session is released with the message. Abandoned before, it would come again at once, to be abandoned again.
    if (isEnding) return closed.promise
    clearTimeout(idle)
    const processing = processMessage(fn, message, settle, options)
    running.add(processing)
    await processing
    running.delete(processing)
    if (running.size === 0) waitForMessages()
  }
  const warn = (text: string) => (error: unknown) =>
    log({
      level: 'warning',
      category: 'host',
      message: `Session ${receiver.sessionId} ${text}`,
      functionName: fn.name,
      error,
    })
  stopping.addEventListener('abort', end, { once: true })
  waitForMessages()
  receiver.subscribe(
    {
      processMessage: onMessage,
      // The receiver does not open its link again.
      async processError({ error }) {
        if (!isEnding) warn('was lost')(error)
        end()
      },
    },
    { autoCompleteMessages: false, maxConcurrentCalls: serviceBus.maxConcurrentCallsPerSession },
  )
  const renewal = {
    renew: () => receiver.renewSessionLock(),
    renewedForMs: serviceBus.maxAutoLockRenewalDurationMs,
    onFailure: warn('could not be renewed'),
  }
  await whileLocked({ lockedUntilUtc: receiver.sessionLockedUntilUtc }, renewal, async () => {
    await ended.promise
    await Promise.all(running)
  })
  stopping.removeEventListener('abort', end)
  await receiver.close().catch(warn('could not be closed'))
  closed.resolve()
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ServiceTimeout'
}
