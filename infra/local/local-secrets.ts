import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Keys that live as long as the data folder. All in base64. */
export type LocalSecrets = { readonly cosmosKey: string; readonly cursorKey: string }

/**
 * The folder's keys, made at the first start.
 * @throws Error that names the file when it is damaged.
 */
export function localSecrets(file: string): LocalSecrets {
  if (existsSync(file)) return readSecrets(file)
  const secrets = { cosmosKey: randomKey(64), cursorKey: randomKey(32) }
  // Written whole or not at all: a start that is cut off must not leave half a file behind.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, undefined, 2), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return secrets
}

function readSecrets(file: string): LocalSecrets {
  try {
    const secrets = JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets> | null
    if (typeof secrets?.cosmosKey === 'string' && typeof secrets.cursorKey === 'string') return secrets as LocalSecrets
  } catch (cause) {
    throw new Error(`${file} is damaged: delete the data folder to start anew`, { cause })
  }
  throw new Error(`${file} is damaged: delete the data folder to start anew`)
}

function randomKey(sizeBytes: number): string {
  return randomBytes(sizeBytes).toString('base64')
}
