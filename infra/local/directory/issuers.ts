export type TokenVersion = '1.0' | '2.0'

/** Placeholder of the tenant ID in an issuer, as in the key sets of the identity provider. */
const TENANT_PLACE = '{tenantid}'

/**
 * The issuer by token version, with `{tenantid}` for the tenant. The issuer of version 1 has the same host in every
 * environment. The issuer of version 2 is the authority.
 */
export const issuerTemplate = (version: TokenVersion, authorityUrl: string): string =>
  version === '1.0' ? `https://sts.windows.net/${TENANT_PLACE}/` : `${authorityUrl}/${TENANT_PLACE}/v2.0`

/** `iss` claim of the tokens of a tenant. */
export const issuerOf = (version: TokenVersion, authorityUrl: string, tenantId: string): string =>
  issuerTemplate(version, authorityUrl).replace(TENANT_PLACE, tenantId)
