import { type Container, CosmosClient, type CosmosClientOptions, type Database, type PluginConfig } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { type ContainerId, DATABASE_ID } from './containers.ts'
import { withoutQueryPlans } from './query-plans.ts'

/** The endpoint of the database, and the key or the credential for it, or a transport that needs neither. */
export type DatabaseSettings = { readonly endpoint: string } & (
  | { readonly key: string }
  | { readonly credential: TokenCredential }
  | { readonly httpClient: NonNullable<CosmosClientOptions['httpClient']> }
)

/**
 * Returns the containers by name. The consistency is that of the account, Strong: every read includes every
 * acknowledged write. https://learn.microsoft.com/azure/cosmos-db/consistency-levels
 */
export function openDatabase(settings: DatabaseSettings): (id: ContainerId) => Container {
  const { endpoint } = settings
  // The types of the SDK declare plugins, but not this option.
  const options: CosmosClientOptions & { readonly plugins: PluginConfig[] } = {
    endpoint,
    plugins: [withoutQueryPlans()],
    ...accessOf(settings),
  }
  const database: Database = new CosmosClient(options).database(DATABASE_ID)
  return (id) => database.container(id)
}

function accessOf(settings: DatabaseSettings): Pick<CosmosClientOptions, 'key' | 'aadCredentials' | 'httpClient'> {
  if ('key' in settings) return { key: settings.key }
  return 'credential' in settings ? { aadCredentials: settings.credential } : { httpClient: settings.httpClient }
}
