import { spawn } from 'node:child_process'
import { cpus } from 'node:os'

/** The static checks, the longest first. `npm run check -- types format` runs some of them. */
const CHECKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['types', ['tsc', '--noEmit']],
  ['console', ['tsc', '--noEmit', '-p', 'functions/console']],
  ['format', ['biome', 'ci', '--error-on-warnings', '.']],
  ['layers', ['node', '--test', 'test/architecture/layers.test.ts']],
  ['unused', ['knip']],
  ['mutants', ['node', 'test/tools/mutation/print-scores.ts']],
])

const named = process.argv.slice(2)
const waiting = named.length > 0 ? named : [...CHECKS.keys()]
let failedCount = 0

/** Runs one check and prints its output when it has ended: the output of two checks must not mix. */
async function run(check: string): Promise<void> {
  const [command = '', ...words] = CHECKS.get(check) ?? []
  if (command === '') throw new Error(`There is no check ${check}, only ${[...CHECKS.keys()].join(', ')}`)
  const output: Buffer[] = []
  const child = spawn(command, words, { shell: process.platform === 'win32' })
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise<number | null>((closed) => child.once('close', closed))
  process.stdout.write(`${check}: ${code === 0 ? 'ok' : 'FAILED'}\n${Buffer.concat(output).toString()}`)
  if (code !== 0) failedCount += 1
}

/** Runs the checks that no other lane has begun. */
async function lane(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) await run(check)
}

await Promise.all(Array.from({ length: Math.min(cpus().length, CHECKS.size) }, lane))
process.exitCode = failedCount === 0 ? 0 : 1
