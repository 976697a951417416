import { CommandError, parsedWords } from '../command.ts'
import type { ConnectionSettings } from '../import/api-connection.ts'
import { CREDENTIAL_OPTIONS, credentialsOf, withoutSlash } from '../import/import-options.ts'

export type DefinitionsOptions =
  | { readonly command: 'login'; readonly apiUrl: string }
  | {
      readonly command: 'export' | 'plan' | 'apply'
      readonly folder: string
      readonly prunes: boolean
      readonly isJson: boolean
      readonly connection: Omit<ConnectionSettings, 'newToken'>
    }

export const USAGE = `usage: npm run definitions -- <command> [options]

Collections, group links and their settings as YAML files, so that they can be reviewed like code.

  login             sign in with a browser; the tokens are kept in your user folder
  export <folder>   write the definitions of the tenant into the folder; comments in existing files are kept
  plan <folder>     show what applying the folder would change, with the effect on members and groups
  apply <folder>    plan, and make the changes with exactly this effect; stops at the first refusal

  --url <url>       base URL of the API (variable API_URL, default http://localhost:7071)
  --prune           plan, apply: delete collections and links that are not in the folder
                    export: delete files of what the tenant does not have
  --json            print JSON
  --help            show this help

Without login: TOKEN, or CLIENT_ID, CLIENT_SECRET, TENANT_ID, AUTHORITY_URL and SCOPE in the environment.
Exit codes: 0 done, or nothing to change; 1 a mistake or a refusal; 2 plan found changes.`

const OPTIONS = {
  url: { type: 'string' },
  prune: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const COMMANDS = ['login', 'export', 'plan', 'apply'] as const

type Environment = Readonly<Record<string, string | undefined>>

/** @returns `help` with `--help` or without arguments. @throws CommandError that names what is wrong */
export function readDefinitionsOptions(
  words: readonly string[],
  environment: Environment,
): DefinitionsOptions | 'help' {
  const { values, positionals } = parsedWords(words, OPTIONS)
  if (values.help || words.length === 0) return 'help'
  const [name, folder, ...others] = positionals
  const command = COMMANDS.find((known) => known === name)
  if (command === undefined) throw new CommandError(`Specify one of the commands ${COMMANDS.join(', ')}`)
  const apiUrl = withoutSlash(values.url || environment.API_URL || 'http://localhost:7071')
  if (!URL.canParse(apiUrl)) throw new CommandError(`${apiUrl} is not a valid URL`)
  if (command === 'login') {
    if (folder !== undefined) throw new CommandError('login takes no folder')
    return { command, apiUrl }
  }
  if (folder === undefined || others.length > 0) throw new CommandError('Specify one folder')
  return {
    command,
    folder,
    prunes: values.prune ?? false,
    isJson: values.json ?? false,
    connection: { apiUrl, ...credentialsFrom(environment) },
  }
}

/** A token, client credentials, or neither: then the stored sign-in is used. */
function credentialsFrom(environment: Environment): Pick<ConnectionSettings, 'token' | 'credentials'> {
  const read = (option: string) => environment[option.toUpperCase().replaceAll('-', '_')] || undefined
  const token = read('token')
  const isApplication = token === undefined && CREDENTIAL_OPTIONS.some((option) => read(option) !== undefined)
  return { token, credentials: isApplication ? credentialsOf(read) : undefined }
}
