// `npm run import`: updates the objects of a connector to match CSV or JSON files.

import { CommandError } from '../command.ts'
import { connect } from './api-connection.ts'
import { connectorSpace } from './connector-space.ts'
import { readImportOptions, USAGE } from './import-options.ts'
import { digestOfData } from './plan-import.ts'
import { runImport } from './run-import.ts'
import { askOnTerminal, progressOn } from './terminal.ts'

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
    ask: askOnTerminal(process.stdin, process.stdout),
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  process.stderr.write(`import: ${error.message}\n`)
  process.exitCode = error.exitCode
}
