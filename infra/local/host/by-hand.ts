import { randomUUID } from 'node:crypto'
import type { AppFunction, ServiceBusFunction } from './app-functions.ts'
import type { Invoke } from './invocation.ts'
import { batchMetadata, messageInput } from './message-data.ts'
import type { RunningTimer } from './timer.ts'

/** Runs a function once. Rejects with the error of the function. */
export type RunByHand = (input: unknown) => Promise<void>

/**
 * Finds a function for a manual start by its name, case-insensitive. Undefined for HTTP functions and for timers that
 * do not run.
 */
export function byHand(
  functions: readonly AppFunction[],
  timers: ReadonlyMap<string, RunningTimer>,
  invoke: Invoke,
): (name: string) => RunByHand | undefined {
  const byName = new Map(functions.map((fn) => [fn.name.toLowerCase(), fn]))
  return (name) => {
    const fn = byName.get(name.toLowerCase())
    if (fn?.trigger === 'serviceBus') return (input) => runMessage(fn, input, invoke)
    return fn && timers.get(fn.name)?.runByHand
  }
}

/** The input is the message body: a string is used unchanged, other values as JSON. */
async function runMessage(fn: ServiceBusFunction, input: unknown, invoke: Invoke): Promise<void> {
  const body = Buffer.from(typeof input === 'string' ? input : JSON.stringify(input ?? ''))
  const metadata = { MessageId: { string: randomUUID() }, DeliveryCount: { json: '1' } }
  await invoke(fn.registration, {
    inputData: [{ name: fn.triggerName, data: messageInput([body], fn) }],
    triggerMetadata: fn.takesMany ? batchMetadata(metadata) : metadata,
  })
}
