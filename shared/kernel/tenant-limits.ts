/** What one tenant can have. Decisions, section 12. */
export type TenantLimits = {
  /** Distinct names of custom attributes for each object type. */
  readonly customAttributeNames: number
}

export const TENANT_LIMITS: TenantLimits = {
  customAttributeNames: 200,
}
