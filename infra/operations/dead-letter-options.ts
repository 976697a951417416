import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BusSettings } from '../../shared/messaging/message-sender.ts'
import { QUEUES, type QueueName } from '../../shared/messaging/queues.ts'
import { CommandError, parsedWords } from '../command.ts'

export type DeadLetterOptions = {
  readonly command: 'list' | 'replay'
  readonly queues: readonly QueueName[]
  /** The only message to process. Undefined: all messages. */
  readonly messageId: string | undefined
  readonly isDryRun: boolean
  /** File with settings that are not in the environment. Undefined: the default file. */
  readonly settingsFile: string | undefined
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

/** @returns `help` with `--help`. @throws CommandError that names the missing or unknown option */
export function readDeadLetterOptions(words: readonly string[]): DeadLetterOptions | 'help' {
  const { values, positionals } = parsedWords(words, OPTIONS)
  if (values.help) return 'help'
  const [command, ...others] = positionals
  if ((command !== 'list' && command !== 'replay') || others.length > 0) {
    throw new CommandError('Specify list or replay. See --help')
  }
  return {
    command,
    queues: values.queue === undefined ? QUEUES.map(({ name }) => name) : [queueOf(values.queue)],
    messageId: values.message,
    isDryRun: values['dry-run'] ?? false,
    settingsFile: values.settings,
  }
}

function queueOf(name: string): QueueName {
  const known = QUEUES.find((queue) => queue.name === name)
  if (known !== undefined) return known.name
  throw new CommandError(`Unknown queue ${name}. Use one of ${QUEUES.map((queue) => queue.name).join(', ')}`)
}

type Values = Readonly<Record<string, string | undefined>>

/**
 * Connects with a connection string, or to a namespace as the signed-in user. Reads the settings from the environment,
 * otherwise from a file in the format of `local.settings.json`.
 * @throws CommandError if no setting is found or the file cannot be read
 */
export async function busSettingsOf(settingsFile: string | undefined, environment: Values): Promise<BusSettings> {
  const found = settingsOf(environment) ?? settingsOf(fileValues(settingsFile ?? defaultFile(environment)))
  if (found === undefined) throw new CommandError('Set ServiceBus or ServiceBus__fullyQualifiedNamespace')
  if ('connectionString' in found) return found
  const { DefaultAzureCredential } = await import('@azure/identity')
  return { ...found, credential: new DefaultAzureCredential() }
}

function settingsOf(values: Values): { connectionString: string } | { namespace: string } | undefined {
  if (values.ServiceBus) return { connectionString: values.ServiceBus }
  const namespace = values.ServiceBus__fullyQualifiedNamespace
  return namespace ? { namespace } : undefined
}

/** The settings file of the current folder, otherwise that of a local environment. */
function defaultFile(environment: Values): string | undefined {
  const dataFolder = environment.DATA_DIR || '.local'
  return ['local.settings.json', join(dataFolder, 'local.settings.json')].find((file) => existsSync(file))
}

function fileValues(file: string | undefined): Values {
  if (file === undefined) return {}
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { Values?: Values }).Values ?? {}
  } catch (cause) {
    throw new CommandError(`${file} is not a valid settings file`, { cause })
  }
}
