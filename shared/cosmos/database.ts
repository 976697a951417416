import { type Container, CosmosClient, type Database } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'

/** Where the database is, and who asks it: whoever has its key, or whoever the credential stands for. */
export type DatabaseSettings = { readonly endpoint: string } & (
  | { readonly key: string }
  | { readonly credential: TokenCredential }
)

/**
 * The SDK sends the session token of a container only when the client asks for Session itself, although the account's
 * default is the same: without it, a read may be older than what this instance wrote before. Covers point reads and
 * queries; the primary runs batches. https://learn.microsoft.com/azure/cosmos-db/consistency-levels
 */
const CONSISTENCY = { consistencyLevel: 'Session' } as const

/** The containers by name. Reads see at least what this client has written and read before; not what others wrote. */
export function openDatabase(settings: DatabaseSettings): (id: ContainerId) => Container {
  const { endpoint } = settings
  const client =
    'key' in settings
      ? new CosmosClient({ endpoint, key: settings.key, ...CONSISTENCY })
      : new CosmosClient({ endpoint, aadCredentials: settings.credential, ...CONSISTENCY })
  const database: Database = client.database(DATABASE_ID)
  return (id) => database.container(id)
}
