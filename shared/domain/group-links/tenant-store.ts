/** A tenant, and when it was last swept; before its first sweep, when it became known. */
export type KnownTenant = { readonly tenantId: string; readonly sweptAtMs: number }

/** The tenants that the service works for. */
export interface TenantStore {
  /** Makes sure that the sweep finds the tenant. Cheap when it is known already. */
  remember(tenantId: string): Promise<void>
  /** Those that are swept in this minute of the hour, or all of them: page by page, in no order. */
  list(minute: number | undefined): AsyncIterable<readonly KnownTenant[]>
  /** Writes down that the tenant has been swept. */
  swept(tenantId: string, atMs: number): Promise<void>
}
