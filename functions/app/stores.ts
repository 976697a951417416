import { cosmosLinkStore } from '../../shared/cosmos/link-store.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenant-store.ts'
import { container } from './foundation.ts'

/** Stores that several concepts meet at. */
export const linkStore = cosmosLinkStore(container('links'))
export const tenantStore = cosmosTenantStore(container('tenants'))
