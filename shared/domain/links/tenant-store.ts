/** The tenants that the service works for. */
export interface TenantStore {
  /** Makes sure that the sweep finds the tenant. Cheap when it is known already. */
  remember(tenantId: string): Promise<void>
  /** All of them, page by page, in no order. */
  list(): AsyncIterable<readonly string[]>
}
