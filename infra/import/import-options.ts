import { parseArgs } from 'node:util'
import type { ClientCredentials, ConnectionSettings } from './api-connection.ts'
import { ImportRefusal } from './import-refusal.ts'

export type ImportOptions = {
  /** The file, or the folder with files named after what they hold. */
  readonly path: string
  readonly connectorId: string
  readonly isDryRun: boolean
  readonly deletesMissing: boolean
  /** Answers yes to the question that many deletions raise. */
  readonly isConfirmed: boolean
  readonly connection: ConnectionSettings
}

export const USAGE = `usage: npm run import -- <folder or file> --connector <id> [options]

Brings the space of a connector to what files say: identities, orgunits and relationships, .csv or .jsonl.
In CSV the first line names the attributes; references hold external ids, lists are separated by |.
In JSON lines each line is { "externalId": "...", "data": { ... } }, with data as the connector API takes it.

  --connector <id>      the connector whose data these are
  --dry-run             show what would be done, and change nothing
  --delete-missing      delete what the connector has and the files have not
  --yes                 do not ask before more than 10 % of the objects are deleted
  --api-url <url>       where the API is (API_URL; http://localhost:7071)
  --token <token>       a token (TOKEN), or the means to fetch one:
  --client-id <id>      (CLIENT_ID), --client-secret (CLIENT_SECRET), --tenant-id (TENANT_ID),
                        --authority-url (AUTHORITY_URL), --scope (SCOPE)
  --help                this text`

const OPTIONS = {
  connector: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'delete-missing': { type: 'boolean' },
  yes: { type: 'boolean' },
  help: { type: 'boolean' },
  'api-url': { type: 'string' },
  token: { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret': { type: 'string' },
  'tenant-id': { type: 'string' },
  'authority-url': { type: 'string' },
  scope: { type: 'string' },
} as const

type Environment = Readonly<Record<string, string | undefined>>
type Read = (option: keyof typeof OPTIONS & string) => string | undefined

/** @returns `help` when that was asked for, or nothing at all. @throws ImportRefusal that names what is missing or unknown. */
export function readImportOptions(words: readonly string[], environment: Environment): ImportOptions | 'help' {
  const { values, positionals } = parsed(words)
  if (values.help || words.length === 0) return 'help'
  const read: Read = (option) => {
    const variable = option.toUpperCase().replaceAll('-', '_')
    return (values[option] as string | undefined) || environment[variable] || undefined
  }
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0) throw new ImportRefusal('One folder or file has to be named')
  if (!values.connector) throw new ImportRefusal('--connector <id> is missing')
  return {
    path,
    connectorId: values.connector,
    isDryRun: values['dry-run'] ?? false,
    deletesMissing: values['delete-missing'] ?? false,
    isConfirmed: values.yes ?? false,
    connection: connectionOf(read),
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (cause) {
    throw new ImportRefusal((cause as Error).message.split('. ')[0] ?? 'Unknown option', { cause })
  }
}

function connectionOf(read: Read): ConnectionSettings {
  const apiUrl = withoutSlash(read('api-url') ?? 'http://localhost:7071')
  if (!URL.canParse(apiUrl)) throw new ImportRefusal(`${apiUrl} is no URL`)
  const token = read('token')
  return { apiUrl, token, credentials: token === undefined ? credentialsOf(read) : undefined }
}

function credentialsOf(read: Read): ClientCredentials {
  const required = ['client-id', 'client-secret', 'tenant-id', 'authority-url', 'scope'] as const
  const missing = required.filter((option) => read(option) === undefined)
  if (missing.length > 0) {
    const names = missing.map((option) => option.toUpperCase().replaceAll('-', '_'))
    throw new ImportRefusal(`Set TOKEN, or else ${names.join(', ')}`)
  }
  const value = (option: (typeof required)[number]): string => String(read(option))
  return {
    clientId: value('client-id'),
    clientSecret: value('client-secret'),
    tenantId: value('tenant-id'),
    authorityUrl: withoutSlash(value('authority-url')),
    scope: value('scope'),
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
