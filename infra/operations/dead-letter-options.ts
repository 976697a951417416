import { parseArgs } from 'node:util'
import { QUEUES, type QueueName } from '../../shared/messaging/queues.ts'

export type DeadLetterOptions = {
  readonly command: 'list' | 'replay'
  readonly queues: readonly QueueName[]
  /** The one message that is meant; undefined: all of them. */
  readonly messageId: string | undefined
  readonly isDryRun: boolean
  /** Where settings are that the environment has not; undefined: where they usually are. */
  readonly settingsFile: string | undefined
}

/** What was asked cannot be done, told in one line. */
export class OperationRefusal extends Error {
  override readonly name = 'OperationRefusal'
}

export const USAGE = `usage: npm run dead-letters -- list | replay [options]

Shows the messages that no delivery could settle, or sends them again: with the same content and properties, as new
messages. Sending again what was sent again already is harmless, since a message only says where to look.

  --queue <name>     only this queue: ${QUEUES.map(({ name }) => name).join(', ')}
  --message <id>     only this message
  --dry-run          with replay: show what would be sent again, and change nothing
  --settings <file>  where ServiceBus or ServiceBus__fullyQualifiedNamespace is, if not in the environment
                     (local.settings.json, else that of the environment which runs on this machine)
  --help             this text`

const OPTIONS = {
  queue: { type: 'string' },
  message: { type: 'string' },
  'dry-run': { type: 'boolean' },
  settings: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** @returns `help` when that was asked for. @throws OperationRefusal that names what is missing or unknown. */
export function readDeadLetterOptions(words: readonly string[]): DeadLetterOptions | 'help' {
  const { values, positionals } = parsed(words)
  if (values.help) return 'help'
  const [command, ...others] = positionals
  if ((command !== 'list' && command !== 'replay') || others.length > 0) {
    throw new OperationRefusal('Say list or replay; --help tells more')
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
    throw new OperationRefusal((cause as Error).message.split('. ')[0] ?? 'Unknown option', { cause })
  }
}

function queueOf(name: string): QueueName {
  const known = QUEUES.find((queue) => queue.name === name)
  if (known !== undefined) return known.name
  throw new OperationRefusal(`${name} is not one of ${QUEUES.map((queue) => queue.name).join(', ')}`)
}
