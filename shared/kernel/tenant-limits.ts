/** What one tenant can have, so that it leaves room for the others. */
export type TenantLimits = {
  /** Distinct names of custom attributes for each object type. */
  readonly customAttributeNames: number
  /** Criteria and joinable collections together. */
  readonly collections: number
  /** Conditions and join policies together. */
  readonly definitionBytes: number
  readonly links: number
  readonly connectors: number
  /**
   * Objects of all connectors, including soft-deleted ones until they expire. The core objects of a tenant that come from
   * them must also fit into `ROWS_MEMORY_MB`: where they do not, the tenant is not evaluated, and an alert tells operators.
   */
  readonly connectorObjects: number
}

export const TENANT_LIMITS: TenantLimits = {
  customAttributeNames: 200,
  collections: 5_000,
  definitionBytes: 32 * 1024 * 1024,
  links: 2_000,
  connectors: 100,
  connectorObjects: 2_000_000,
}
