import type { TokenCredential } from '@azure/identity'

/**
 * Who the service is where no key is set: its managed identity or, where it has none, whoever runs it.
 * The package is loaded when the first token is asked for: where there are keys, never.
 */
export function serviceIdentity(managedIdentityClientId: string | undefined): TokenCredential {
  let opened: Promise<TokenCredential> | undefined
  return {
    async getToken(scopes, options) {
      opened ??= openCredential(managedIdentityClientId)
      return (await opened).getToken(scopes, options)
    },
  }
}

async function openCredential(clientId: string | undefined): Promise<TokenCredential> {
  const { DefaultAzureCredential, ManagedIdentityCredential } = await import('@azure/identity')
  return clientId === undefined ? new DefaultAzureCredential() : new ManagedIdentityCredential({ clientId })
}
