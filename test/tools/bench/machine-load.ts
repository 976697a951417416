import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Ticks of `/proc`: `getconf CLK_TCK`. */
const TICK_MS = 10

/** Times of processors in milliseconds. */
type Worked = { readonly atMs: number; readonly allMs: number; readonly ownMs: number; readonly stolenMs: number }

/**
 * What else the machine has done during some work. The latencies of a benchmark are those of an idle machine only if
 * this is little: other processes, and the host of a virtual machine, delay requests that the service would have
 * answered.
 * @param processIds The processes of the benchmark, without their children.
 * @returns A function that reports the time since its last call.
 */
export function machineLoad(processIds: readonly number[]): () => string {
  let before = workedBy(processIds)
  return () => {
    const now = workedBy(processIds)
    const elapsedMs = now.atMs - before.atMs
    const cores = (ms: number) => (Math.max(0, ms) / elapsedMs).toFixed(2)
    const others = cores(now.allMs - before.allMs - (now.ownMs - before.ownMs))
    const stolen = cores(now.stolenMs - before.stolenMs)
    before = now
    return `other processes ${others}, stolen by the host ${stolen} of ${availableParallelism()} processors`
  }
}

function workedBy(processIds: readonly number[]): Worked {
  const [, times = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = times
    .split(' ')
    .map((ticks) => Number(ticks) * TICK_MS)
  return {
    atMs: performance.now(),
    allMs: user + nice + system + interrupts + softInterrupts,
    ownMs: processIds.flatMap(withChildren).reduce((sum, processId) => sum + processMs(processId), 0),
    stolenMs: stolen,
  }
}

function withChildren(processId: number): number[] {
  const children = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim()
  return [processId, ...(children === '' ? [] : children.split(' ').map(Number))]
}

/** The name in parentheses can contain spaces. User and system time are fields 14 and 15. */
function processMs(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
