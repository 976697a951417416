import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The key of the local account, in base64, which lives as long as the data folder. */
export type LocalSecrets = { readonly cosmosKey: string }

/**
 * The folder's key, made at the first start.
 * @throws Error that names the file when it is damaged.
 */
export function localSecrets(file: string): LocalSecrets {
  if (existsSync(file)) return readSecrets(file)
  const secrets = { cosmosKey: randomBytes(64).toString('base64') }
  // Written whole or not at all: a start that is cut off must not leave half a file behind.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, undefined, 2), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return secrets
}

function readSecrets(file: string): LocalSecrets {
  try {
    const secrets = JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets> | null
    if (typeof secrets?.cosmosKey === 'string') return { cosmosKey: secrets.cosmosKey }
  } catch (cause) {
    throw new Error(`${file} is damaged: delete the data folder to start anew`, { cause })
  }
  throw new Error(`${file} is damaged: delete the data folder to start anew`)
}
