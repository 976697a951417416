import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Variables of a command that a test runs: no settings of this process, only where programs are found, and the modules
 * that the test run has compiled. Compiling them again takes more time than most commands.
 */
const COMMAND_VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  }),
)

/** How a command ended, and what it has printed. */
export type CommandOutcome = { readonly code: number | null; readonly out: string; readonly err: string }

/** Starts a script with these variables and those that every command has. */
export function startedCommand(script: string, words: readonly string[], variables: Record<string, string>) {
  const env = { ...COMMAND_VARIABLES, ...variables }
  return spawn(process.execPath, [script, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Waits until a started command ends. */
export async function outcomeOf(child: ReturnType<typeof startedCommand>): Promise<CommandOutcome> {
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, ...said }
}
