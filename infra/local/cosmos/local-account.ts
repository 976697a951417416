import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { CosmosClient } from '@azure/cosmos'
import {
  CONTAINERS,
  type ContainerDefinition,
  DATABASE_ID,
  indexingPolicyOf,
} from '../../../shared/cosmos/containers.ts'
import type { HttpClient } from './in-process.ts'

/** The key of the local Cosmos DB account, in base64. */
export type LocalSecrets = { readonly cosmosKey: string }

/**
 * Reads the key from the file, or creates it at the first start.
 * @throws Error that names the file if it is damaged
 */
export function localSecrets(file: string): LocalSecrets {
  if (existsSync(file)) return readSecrets(file)
  const secrets = { cosmosKey: randomBytes(64).toString('base64') }
  // Atomic write: an interrupted start must not leave a partial file.
  writeFileSync(`${file}.new`, JSON.stringify(secrets, undefined, 2), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return secrets
}

function readSecrets(file: string): LocalSecrets {
  try {
    const secrets = JSON.parse(readFileSync(file, 'utf8')) as Partial<LocalSecrets> | null
    if (typeof secrets?.cosmosKey === 'string') return { cosmosKey: secrets.cosmosKey }
  } catch (cause) {
    throw new Error(`${file} is damaged. Delete the data folder to reset the environment`, { cause })
  }
  throw new Error(`${file} is damaged. Delete the data folder to reset the environment`)
}

/** Creates the database and its missing containers. In Azure, the templates create them. */
export async function createContainers(endpoint: string, key: string, httpClient?: HttpClient): Promise<void> {
  const client = new CosmosClient({ endpoint, key, ...(httpClient === undefined ? {} : { httpClient }) })
  const { database } = await client.databases.createIfNotExists({ id: DATABASE_ID })
  for (const definition of CONTAINERS as readonly ContainerDefinition[]) {
    const { id, partitionKey, defaultTtlS, uniqueKeys } = definition
    await database.containers.createIfNotExists({
      id,
      partitionKey: { paths: [partitionKey] },
      indexingPolicy: indexingPolicyOf(definition),
      ...(defaultTtlS === undefined ? {} : { defaultTtl: defaultTtlS }),
      ...(uniqueKeys === undefined
        ? {}
        : { uniqueKeyPolicy: { uniqueKeys: uniqueKeys.map((paths) => ({ paths: [...paths] })) } }),
    })
  }
  client.dispose()
}
