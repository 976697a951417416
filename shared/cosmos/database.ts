import { type Container, CosmosClient, type Database } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'

/** Where the database is, and who asks it: whoever has its key, or whoever the credential stands for. */
export type DatabaseSettings = { readonly endpoint: string } & (
  | { readonly key: string }
  | { readonly credential: TokenCredential }
)

/** The containers by name. */
export function openDatabase(settings: DatabaseSettings): (id: ContainerId) => Container {
  const { endpoint } = settings
  const client =
    'key' in settings
      ? new CosmosClient({ endpoint, key: settings.key })
      : new CosmosClient({ endpoint, aadCredentials: settings.credential })
  const database: Database = client.database(DATABASE_ID)
  return (id) => database.container(id)
}
