import { createInterface } from 'node:readline'

export type Ask = (question: string) => Promise<boolean>

type MaybeTerminal = { readonly isTTY?: boolean }

/**
 * Asks yes-or-no questions on an interactive terminal. Undefined without one. Only y and yes mean yes; the end of the
 * input means no.
 */
export function askOnTerminal(
  input: NodeJS.ReadableStream & MaybeTerminal,
  output: NodeJS.WritableStream & MaybeTerminal,
): Ask | undefined {
  if (!input.isTTY || !output.isTTY) return undefined
  return async (question) => {
    const lines = createInterface({ input, output, prompt: `${question} [y/N] ` })
    const answer = new Promise<string>((resolve) => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(''))
    })
    lines.prompt()
    const isYes = /^y(es)?$/i.test((await answer).trim())
    lines.close()
    return isYes
  }
}
