export type TokenVersion = '1.0' | '2.0'

/** Stands for the tenant's id in an issuer, as the identity provider's own key sets write it. */
const TENANT_PLACE = '{tenantid}'

/**
 * The issuer of each token version, `{tenantid}` standing for the tenant. Version 1 tokens name the same host in every
 * environment; those of version 2 name the authority that issued them.
 */
export const issuerTemplate = (version: TokenVersion, authorityUrl: string): string =>
  version === '1.0' ? `https://sts.windows.net/${TENANT_PLACE}/` : `${authorityUrl}/${TENANT_PLACE}/v2.0`

/** What the `iss` of a tenant's tokens says. */
export const issuerOf = (version: TokenVersion, authorityUrl: string, tenantId: string): string =>
  issuerTemplate(version, authorityUrl).replace(TENANT_PLACE, tenantId)
