import { parseArgs } from 'node:util'
import { QUEUES, type QueueName } from '../../shared/messaging/queues.ts'

export type DeadLetterOptions = {
  readonly command: 'list' | 'replay'
  readonly queues: readonly QueueName[]
  /** The only message to process. Undefined: all messages. */
  readonly messageId: string | undefined
  readonly isDryRun: boolean
  /** File with settings that are not in the environment. Undefined: the default file. */
  readonly settingsFile: string | undefined
}

/** The reason why a command does not run, in one line. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
}

export const USAGE = `usage: npm run dead-letters -- list | replay [options]

Lists dead-lettered messages, or replays them as new messages with the same content and properties. Replaying a message
twice is harmless.

  --queue <name>     process this queue only: ${QUEUES.map(({ name }) => name).join(', ')}
  --message <id>     process this message only
  --dry-run          with replay: show the messages without sending them
  --settings <file>  file with ServiceBus or ServiceBus__fullyQualifiedNamespace, if they are not in the environment
                     (default: local.settings.json, or the settings of a local environment)
  --help             show this help`

const OPTIONS = {
  queue: { type: 'string' },
  message: { type: 'string' },
  'dry-run': { type: 'boolean' },
  settings: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** @returns `help` with `--help`. @throws OperationError that names the missing or unknown option */
export function readDeadLetterOptions(words: readonly string[]): DeadLetterOptions | 'help' {
  const { values, positionals } = parsed(words)
  if (values.help) return 'help'
  const [command, ...others] = positionals
  if ((command !== 'list' && command !== 'replay') || others.length > 0) {
    throw new OperationError('Specify list or replay. See --help')
  }
  return {
    command,
    queues: values.queue === undefined ? QUEUES.map(({ name }) => name) : [queueOf(values.queue)],
    messageId: values.message,
    isDryRun: values['dry-run'] ?? false,
    settingsFile: values.settings,
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (cause) {
    throw new OperationError((cause as Error).message.split('. ')[0] ?? 'Unknown option', { cause })
  }
}

function queueOf(name: string): QueueName {
  const known = QUEUES.find((queue) => queue.name === name)
  if (known !== undefined) return known.name
  throw new OperationError(`Unknown queue ${name}. Use one of ${QUEUES.map((queue) => queue.name).join(', ')}`)
}
