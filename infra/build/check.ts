import { spawn } from 'node:child_process'
import { cpus } from 'node:os'

/** The static checks, the longest first. Each is a script of package.json that can run alone. */
const CHECKS = ['check:types', 'check:console', 'check:format', 'check:layers', 'check:unused', 'check:mutants']

const waiting = [...CHECKS]
let failedCount = 0

/** Runs one check and prints its output when it has ended: the output of two checks must not mix. */
async function run(check: string): Promise<void> {
  const output: Buffer[] = []
  const child = spawn('npm', ['run', '--silent', check])
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

await Promise.all(Array.from({ length: Math.min(cpus().length, CHECKS.length) }, lane))
process.exitCode = failedCount === 0 ? 0 : 1
