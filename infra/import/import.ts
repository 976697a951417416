// `npm run import`: brings the space of a connector to what CSV or JSON files say.
import { createInterface } from 'node:readline/promises'
import { connect } from './api-connection.ts'
import { connectorSpace } from './connector-space.ts'
import { readImportOptions, USAGE } from './import-options.ts'
import { ImportRefusal } from './import-refusal.ts'
import { digestOfData } from './plan-import.ts'
import { progressOn } from './progress.ts'
import { runImport } from './run-import.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<number> {
  const options = readImportOptions(process.argv.slice(2), process.env)
  if (options === 'help') {
    say(USAGE)
    return 0
  }
  const call = await connect(options.connection)
  return runImport(options, {
    space: connectorSpace(options.connectorId, call, digestOfData),
    progress: progressOn(process.stderr, Date.now),
    say,
    ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  })
}

async function ask(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(`${question} [y/N] `)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof ImportRefusal)) throw error
  process.stderr.write(`import: ${error.message}\n`)
  process.exitCode = error.exitCode
}
