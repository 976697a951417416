import * as oauth from 'oauth4webapi'

/** Not in the library's types: the issuer of a response, for authorities with many tenants. */
const EXPECTED_ISSUER = (oauth as unknown as { readonly _expectedIssuer: symbol })._expectedIssuer

let server: Promise<oauth.AuthorizationServer> | undefined

/** The authority's configuration, read once. After a failure it is read again. */
export function discovered(authority: URL): Promise<oauth.AuthorizationServer> {
  server ??= readConfiguration(authority).catch((error: unknown) => {
    server = undefined
    throw error
  })
  return server
}

/** The authority's configuration for all tenants. Its issuer has `{tenantid}` where the id of a tenant belongs. */
async function readConfiguration(authority: URL): Promise<oauth.AuthorizationServer> {
  const url = new URL(`${authority.href.replace(/\/$/, '')}/organizations/v2.0/.well-known/openid-configuration`)
  const response = await fetch(url)
  if (!response.ok) throw new Error(`The authority responds with HTTP ${response.status}`)
  const metadata = (await response.json()) as oauth.AuthorizationServer
  return {
    ...metadata,
    // https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-issuer
    [EXPECTED_ISSUER]: ({ claims }: { claims: { tid?: unknown } }) =>
      metadata.issuer.replace('{tenantid}', String(claims.tid)),
  } as oauth.AuthorizationServer
}
