import { CommandError, parsedWords } from '../command.ts'
import { type ClientCredentials, type ConnectionSettings, freshToken } from './api-connection.ts'
import { demoCredentials, isLoopback } from './demo-credentials.ts'
import { FILE_ENCODINGS, type FileEncoding } from './file-text.ts'

export type ImportOptions = {
  /** A file, or a folder with files that are named after their object types. */
  readonly path: string
  readonly connectorId: string
  /** Of files without a byte order mark. */
  readonly encoding: FileEncoding
  readonly isDryRun: boolean
  readonly deletesMissing: boolean
  /** Skips the confirmation of many deletions. */
  readonly isConfirmed: boolean
  readonly connection: ConnectionSettings
}

export const USAGE = `usage: npm run import -- <folder or file> --connector <id> [options]

Updates the objects of a connector to match files: identities, orgunits and relationships, as .csv or .jsonl.
CSV: the first line contains externalId and attribute names, also as in conditions (identityDisplayName). A reference is an external ID. Lists are separated by |.
The delimiter is a comma, a semicolon or a tab, recognised from the first line.
JSON lines: each line is { "externalId": "...", "data": { ... } }, with data in the format of the connector API.
An object with previousExternalId is renamed: it stays the same object, and references to the former name follow.
The former name can be the name of another object of the files, if their former names form no circle.

  --connector <id>      ID of the connector (required)
  --encoding <name>     encoding of the files: utf-8 (default) or windows-1252. A file with a byte order mark of UTF-8
                        is always read as UTF-8
  --dry-run             show the changes without making them
  --delete-missing      delete objects of the connector that are not in the files, of the object types that have lines
                        there: a file that is missing or has only a header deletes nothing
  --yes                 delete more than one and more than 10 % of the objects of a type, or all, without confirmation
  --api-url <url>       base URL of the API (variable API_URL, default http://localhost:7071)
  --token <token>       access token (variable TOKEN), or client credentials to request one:
  --client-id <id>      (CLIENT_ID), --client-secret (CLIENT_SECRET), --tenant-id (TENANT_ID),
                        --authority-url (AUTHORITY_URL), --scope (SCOPE)
                        With none of these and an API on this machine: the demo application connector of the local
                        directory (variable DIRECTORY_URL, default https://localhost:7072), whose certificate is
                        trusted if its authority is in the data folder (variable DATA_DIR, default .local)
  --help                show this help`

const OPTIONS = {
  connector: { type: 'string' },
  encoding: { type: 'string' },
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

/** What a request for a token with client credentials needs. */
export const CREDENTIAL_OPTIONS = ['client-id', 'client-secret', 'tenant-id', 'authority-url', 'scope'] as const
type CredentialOption = (typeof CREDENTIAL_OPTIONS)[number]

type Environment = Readonly<Record<string, string | undefined>>
type Read = (option: keyof typeof OPTIONS & string) => string | undefined

/** @returns `help` with `--help` or without arguments. @throws CommandError that names the missing or unknown option */
export function readImportOptions(words: readonly string[], environment: Environment): ImportOptions | 'help' {
  const { values, positionals } = parsedWords(words, OPTIONS)
  if (values.help || words.length === 0) return 'help'
  const read: Read = (option) => {
    const variable = option.toUpperCase().replaceAll('-', '_')
    return (values[option] as string | undefined) || environment[variable] || undefined
  }
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0) throw new CommandError('Specify one folder or file')
  if (!values.connector) throw new CommandError('--connector <id> is required')
  return {
    path,
    connectorId: values.connector,
    encoding: encodingOf(values.encoding ?? 'utf-8'),
    isDryRun: values['dry-run'] ?? false,
    deletesMissing: values['delete-missing'] ?? false,
    isConfirmed: values.yes ?? false,
    connection: connectionOf(read, environment),
  }
}

function encodingOf(name: string): FileEncoding {
  const encoding = FILE_ENCODINGS.find((known) => known === name.toLowerCase())
  if (encoding === undefined) throw new CommandError(`--encoding must be ${FILE_ENCODINGS.join(' or ')}, not ${name}`)
  return encoding
}

function connectionOf(read: Read, environment: Environment): ConnectionSettings {
  const apiUrl = validUrl(read('api-url') ?? 'http://localhost:7071')
  const token = read('token')
  if (token !== undefined) return { apiUrl, token, credentials: undefined }
  const directoryUrl = validUrl(environment.DIRECTORY_URL || 'https://localhost:7072')
  const hasNone = CREDENTIAL_OPTIONS.every((option) => read(option) === undefined)
  if (!hasNone || !isLoopback(apiUrl) || !isLoopback(directoryUrl)) {
    return { apiUrl, token, credentials: credentialsOf(read) }
  }
  const local = { directoryUrl, dataFolder: environment.DATA_DIR || '.local' }
  return { apiUrl, token, credentials: undefined, newToken: async () => freshToken(await demoCredentials(local)) }
}

function validUrl(text: string): string {
  const url = withoutSlash(text)
  if (!URL.canParse(url)) throw new CommandError(`${url} is not a valid URL`)
  return url
}

/** @throws CommandError that names the missing variables */
export function credentialsOf(read: (option: CredentialOption) => string | undefined): ClientCredentials {
  const missing = CREDENTIAL_OPTIONS.filter((option) => read(option) === undefined)
  if (missing.length > 0) {
    const names = missing.map((option) => option.toUpperCase().replaceAll('-', '_'))
    throw new CommandError(`Set TOKEN, or ${names.join(', ')}`)
  }
  const value = (option: CredentialOption): string => String(read(option))
  return {
    clientId: value('client-id'),
    clientSecret: value('client-secret'),
    tenantId: value('tenant-id'),
    authorityUrl: withoutSlash(value('authority-url')),
    scope: value('scope'),
  }
}

/** Without slashes at the end. */
export const withoutSlash = (url: string): string => url.replace(/\/+$/, '')
