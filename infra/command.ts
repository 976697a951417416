import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The reason why a command does not run, in one line. */
export class CommandError extends Error {
  /** 1 for a failure at run time, 2 for invalid arguments. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: { readonly cause?: unknown; readonly exitCode?: 1 | 2 } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.exitCode = options.exitCode ?? 2
  }
}

/** The options and other words of a command line. @throws CommandError that names an unknown or incomplete option. */
export function parsedWords<const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true })
  } catch (cause) {
    throw new CommandError((cause as Error).message.split('. ')[0] ?? 'Unknown option', { cause })
  }
}
