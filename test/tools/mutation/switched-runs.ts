import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Each mutant registers all tests again, which stay in memory. */
const MUTANTS_PER_PROCESS_COUNT = 40

/** The tests without a server that run for switched mutants, in a copy of the project. */
export type SwitchedTests = {
  readonly project: string
  readonly files: readonly string[]
  /** For one mutant. */
  readonly timeoutMs: number
}

/**
 * The numbers of the mutants that the tests notice. Each process ends with a run without a mutant. When this run fails,
 * a mutant has left something behind, and each half of the mutants runs again in a process of its own.
 * @throws Error when the tests fail without a mutant.
 */
export async function noticedInOneProcess(
  numbers: readonly number[],
  tests: SwitchedTests,
): Promise<ReadonlySet<number>> {
  const control = await runSwitched([0], tests)
  if (control.noticed.has(0) || control.isKilled) throw new Error(`${tests.files.join(', ')} fail without a mutant`)
  const noticed = new Set<number>()
  const waiting: (readonly number[])[] = [numbers]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const some = next.slice(0, MUTANTS_PER_PROCESS_COUNT)
    if (some.length === 0) continue
    const run = await runSwitched([...some, 0], tests)
    if (run.noticed.has(0) && some.length > 1) {
      const half = Math.ceil(some.length / 2)
      waiting.unshift(some.slice(0, half), some.slice(half), next.slice(some.length))
      continue
    }
    for (const number of run.noticed) noticed.add(number)
    // It has not ended the last one: an endless loop.
    if (run.last !== 0) noticed.add(run.last)
    waiting.unshift(next.slice(run.last === 0 ? some.length : next.indexOf(run.last) + 1))
  }
  return noticed
}

/** `last` is the mutant with which the process began last. A process that does not end in time is killed. */
type SwitchedRun = { readonly noticed: ReadonlySet<number>; readonly last: number; readonly isKilled: boolean }

function runSwitched(numbers: readonly number[], { project, files, timeoutMs }: SwitchedTests): Promise<SwitchedRun> {
  const child = spawn(process.execPath, ['test/tools/mutation/run-switched.ts', numbers.join(','), ...files], {
    cwd: project,
    env: { ...process.env, NODE_COMPILE_CACHE: join(project, '.compiled') },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  let timer = setTimeout(kill, timeoutMs)
  let last = numbers[0] ?? 0
  const noticed = new Set<number>()
  const said = createInterface(child.stdio[3] as Readable)
  said.on('line', (line) => {
    const [what, number] = line.split(' ')
    if (what === 'noticed') noticed.add(Number(number))
    else {
      last = Number(number)
      clearTimeout(timer)
      timer = setTimeout(kill, timeoutMs)
    }
  })
  return new Promise((ended) => {
    child.once('close', () => {
      clearTimeout(timer)
      ended({ noticed, last, isKilled: child.killed })
    })
  })
}
