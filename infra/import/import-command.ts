import { CommandError } from '../command.ts'
import { connect } from './api-connection.ts'
import { connectorSpace } from './connector-space.ts'
import { readImportOptions, USAGE } from './import-options.ts'
import { digestOfData } from './plan-import.ts'
import { type ImportContext, runImport } from './run-import.ts'

/** Where the command writes lines and shows progress, and whom it asks. */
export type ImportTerminal = Pick<ImportContext, 'progress' | 'say' | 'ask'> & {
  readonly sayError: (line: string) => void
}

/**
 * Runs an import with these words and variables.
 * @returns the exit code: 1 for a failure at run time, 2 for invalid arguments
 */
export async function importCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  { sayError, ...terminal }: ImportTerminal,
): Promise<number> {
  try {
    const options = readImportOptions(words, environment)
    if (options === 'help') {
      terminal.say(USAGE)
      return 0
    }
    const call = await connect(options.connection)
    return await runImport(options, { ...terminal, space: connectorSpace(options.connectorId, call, digestOfData) })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    sayError(`import: ${error.message}`)
    return error.exitCode
  }
}
