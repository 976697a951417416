import type { Container } from '@azure/cosmos'
import type { WindowStore, WindowUse } from '../domain/sync/write-budget.ts'
import { ifVersion, readDocument, refuse } from './documents.ts'
import { toVersioned } from './versioned-document.ts'

/** The document beside a tenant's registration that counts what is written to its directory. */
const WINDOW_ID = 'directory-writes'

type WindowDocument = WindowUse & { readonly id: string; readonly tenantId: string }

/** Container `tenants`: a scope is a partition of its own, the application's as well. */
export function cosmosWindowStore(tenants: Container): WindowStore {
  return {
    async find(scope) {
      const document = await readDocument<WindowDocument>(tenants, WINDOW_ID, scope)
      if (document === undefined) return undefined
      const { value, version } = toVersioned<WindowDocument>(document)
      return { value: { windowStartMs: value.windowStartMs, usedCount: value.usedCount }, version }
    },
    async keep(scope, use, version) {
      const document: WindowDocument = { id: WINDOW_ID, tenantId: scope, ...use }
      const stale = refuse({ 409: 'StaleVersion', 412: 'StaleVersion' })
      if (version === undefined) await tenants.items.create(document).catch(stale)
      else await tenants.item(WINDOW_ID, scope).replace(document, ifVersion(version)).catch(stale)
    },
  }
}
