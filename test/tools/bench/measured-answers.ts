import { setTimeout as sleep } from 'node:timers/promises'
import type { StartedEnvironment } from '../../support/journeys/started-environment.ts'

const PAUSE_MS = 10

/**
 * How long the thread of the functions was held at most since the last call, in milliseconds of processor time. The
 * process is started with `thread-holds.ts`.
 */
export async function longestHoldMs({ said, processId }: StartedEnvironment): Promise<number> {
  const holds = () => [...said().matchAll(/^longest hold (\d+) ms$/gm)].map(([, ms]) => Number(ms))
  const before = holds().length
  process.kill(processId, 'SIGUSR2')
  while (holds().length === before) await sleep(PAUSE_MS)
  return holds().at(-1) ?? Number.NaN
}

/** The time until a request is answered. @throws Error when the answer is no success. */
export async function answerMs(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedMs = performance.now()
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`)
  return performance.now() - startedMs
}

/** @param share From 0 up to 1. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * share)] ?? Number.NaN
}
