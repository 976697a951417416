import { type Container, CosmosClient, type Database } from '@azure/cosmos'
import { DefaultAzureCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'

export type DatabaseSettings = { readonly endpoint: string; readonly key: string | undefined }

/** The containers by name. Where there is no key, the process's own identity is used. */
export function openDatabase({ endpoint, key }: DatabaseSettings): (id: ContainerId) => Container {
  const client =
    key === undefined
      ? new CosmosClient({ endpoint, aadCredentials: new DefaultAzureCredential() })
      : new CosmosClient({ endpoint, key })
  const database: Database = client.database(DATABASE_ID)
  return (id) => database.container(id)
}
