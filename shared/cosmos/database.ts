import { type Container, CosmosClient, type CosmosClientOptions, type Database, type PluginConfig } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'
import { DatabaseSession } from './database-session.ts'

/** Where the database is, and who asks it: whoever has its key, or whoever the credential stands for. */
export type DatabaseSettings = { readonly endpoint: string } & (
  | { readonly key: string }
  | { readonly credential: TokenCredential }
)

/**
 * The containers by name. Reads see at least what the session has seen; what others wrote, perhaps not yet.
 *
 * The account's default is Session as well, but the SDK sends session tokens only when the client asks for it itself.
 * Point reads and queries may be answered by any replica that has what the token names; writes and batches, also those
 * that only read, by the primary. https://learn.microsoft.com/azure/cosmos-db/consistency-levels
 */
export function openDatabase(
  settings: DatabaseSettings,
  session: DatabaseSession = new DatabaseSession(),
): (id: ContainerId) => Container {
  const { endpoint } = settings
  // The SDK's types name what a plugin is, and leave the option out.
  const options: CosmosClientOptions & { readonly plugins: PluginConfig[] } = {
    endpoint,
    consistencyLevel: 'Session',
    plugins: [session.plugin()],
    ...('key' in settings ? { key: settings.key } : { aadCredentials: settings.credential }),
  }
  const database: Database = new CosmosClient(options).database(DATABASE_ID)
  return (id) => database.container(id)
}
