/** The tenants that the service works for. */
export interface TenantStore {
  /** Makes sure that the sweep finds the tenant. Cheap when it is known already. */
  remember(tenantId: string): Promise<void>
  /** Those that are swept in this minute of the hour, or all of them: page by page, in no order. */
  list(minute: number | undefined): AsyncIterable<readonly string[]>
}
