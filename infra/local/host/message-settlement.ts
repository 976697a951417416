import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus'
import type { ServiceBusFunction } from './app-functions.ts'
import type { HostJson } from './host-settings.ts'
import type { Invoke } from './invocation.ts'
import { batchMetadata, messageBytes, messageInput, messageMetadata } from './message-data.ts'
import type { HostLog } from './programming-model.ts'

/** Never rejects. */
export type Settle = (outcome: 'complete' | 'abandon', message: ServiceBusReceivedMessage) => Promise<void>

export type ProcessingOptions = {
  readonly serviceBus: HostJson['serviceBus']
  readonly invoke: Invoke
  readonly log: HostLog
}

/** Never rejects. A failed handler only increases the delivery count of the message. */
export async function processMessage(
  fn: ServiceBusFunction,
  message: ServiceBusReceivedMessage,
  settle: Settle,
  { invoke, serviceBus, log }: ProcessingOptions,
): Promise<void> {
  try {
    const metadata = messageMetadata(message)
    await invoke(fn.registration, {
      inputData: [{ name: fn.triggerName, data: messageInput([messageBytes(message.body)], fn) }],
      triggerMetadata: fn.takesMany ? batchMetadata(metadata) : metadata,
    })
  } catch (error) {
    const text = `Message ${message.messageId} failed, delivery ${(message.deliveryCount ?? 0) + 1}`
    log({ level: 'error', category: 'host', message: text, functionName: fn.name, error })
    return settle('abandon', message)
  }
  if (fn.autoCompleteMessages ?? serviceBus.autoCompleteMessages) await settle('complete', message)
}

/** A settlement fails if the lock is lost. The message is then redelivered, which handlers must support anyway. */
export function settler(fn: ServiceBusFunction, receiver: SettlingReceiver, log: HostLog): Settle {
  const inOrder = settlementOrder()
  return (outcome, message) =>
    inOrder(outcome, () =>
      outcome === 'complete' ? receiver.completeMessage(message) : receiver.abandonMessage(message),
    ).catch((error: unknown) => {
      const text = `Message ${message.messageId} could not be settled (${outcome})`
      log({ level: 'warning', category: 'host', message: text, functionName: fn.name, error })
    })
}

type SettlingReceiver = Pick<ServiceBusReceiver, 'completeMessage' | 'abandonMessage'>

/** Starts a settlement when no settlement with another outcome is in progress. Resolves or rejects like it. */
export type InOrder = (outcome: 'complete' | 'abandon', settle: () => Promise<void>) => Promise<void>

/**
 * Serializes settlements of a receiver with different outcomes. Settlements with the same outcome run concurrently.
 * Required because rhea 3.0.5, which the SDK uses, can merge two settlements of the same turn and send both with the
 * first outcome: a failed message would be completed and lost. (`write_dispositions` compares outcomes from the third.)
 */
export function settlementOrder(): InOrder {
  let outcomeNow: string | undefined
  let earlierOutcomes: Promise<unknown> = Promise.resolve()
  let sameOutcome: Promise<unknown> = Promise.resolve()
  return (outcome, settle) => {
    if (outcome !== outcomeNow) {
      outcomeNow = outcome
      earlierOutcomes = sameOutcome
    }
    const settled = earlierOutcomes.then(settle)
    const ended = settled.catch(() => undefined)
    sameOutcome = Promise.all([sameOutcome, ended]).then(() => undefined)
    return settled
  }
}
