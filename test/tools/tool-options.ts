import type { ParseArgsConfig } from 'node:util'
import { CommandError, parsedWords } from '../../infra/command.ts'

type Words<Options extends NonNullable<ParseArgsConfig['options']>> = ReturnType<typeof parsedWords<Options>>

/** The options and other words of this process. Ends it with status 2 and one line when they are not understood. */
export function toolWords<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
): Words<Options> {
  return endingOnMistakes(() => parsedWords(process.argv.slice(2), options))
}

/** A whole number that an option gives. Ends the process with status 2 and one line for anything else. */
export function numberOption(name: string, value: string | undefined, defaultNumber: number): number {
  return endingOnMistakes(() => {
    if (value === undefined) return defaultNumber
    if (/^\d{1,15}$/.test(value)) return Number(value)
    throw new CommandError(`'--${name}' is a whole number, not '${value}'`)
  })
}

/** The seed that an option gives, or another one for each run. */
export function seedOption(value: string | undefined): number {
  return numberOption('seed', value, Date.now() % 2 ** 31)
}

/** One of some words, when the option is given. Ends the process with status 2 and one line for another word. */
export function choiceOption(name: string, value: string | undefined, choices: readonly string[]): string | undefined {
  return endingOnMistakes(() => {
    if (value === undefined || choices.includes(value)) return value
    throw new CommandError(`'--${name}' is one of ${choices.join(', ')}, not '${value}'`)
  })
}

function endingOnMistakes<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(error.exitCode)
  }
}
