import { type Container, CosmosClient, type CosmosClientOptions, type Database } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'

export type DatabaseSettings = { readonly endpoint: string; readonly key: string | undefined }

/** The containers by name. Where there is no key, the process's own identity is used. */
export function openDatabase({ endpoint, key }: DatabaseSettings): (id: ContainerId) => Container {
  const authentication: CosmosClientOptions = key === undefined ? { aadCredentials: ownIdentity() } : { key }
  const database: Database = new CosmosClient({ endpoint, ...authentication }).database(DATABASE_ID)
  return (id) => database.container(id)
}

/** Its package is loaded when the first token is asked for: where there is a key, never. */
function ownIdentity(): TokenCredential {
  let opened: Promise<TokenCredential> | undefined
  const open = async () => new (await import('@azure/identity')).DefaultAzureCredential()
  return {
    async getToken(scopes, options) {
      opened ??= open()
      return (await opened).getToken(scopes, options)
    },
  }
}
