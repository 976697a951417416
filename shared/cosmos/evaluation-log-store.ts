import type { Container } from '@azure/cosmos'
import type { EvaluationLog } from '../domain/collections/evaluation-log.ts'
import type { EvaluationLogStore } from '../domain/collections/evaluation-log-store.ts'
import { ifVersion, readDocument, refuse } from './documents.ts'

/** The document beside a tenant's registration in which its evaluators tell each other what they write. */
const LOG_ID = 'evaluations'

type LogDocument = { readonly id: string; readonly tenantId: string; readonly entries: EvaluationLog }

/** Container `tenants`. */
export function cosmosEvaluationLogStore(tenants: Container): EvaluationLogStore {
  return {
    async find(tenantId) {
      const document = await readDocument<LogDocument>(tenants, LOG_ID, tenantId)
      return document && { value: document.entries, version: document._etag }
    },
    async keep(tenantId, entries, version) {
      const document: LogDocument = { id: LOG_ID, tenantId, entries }
      const stale = refuse({ 404: 'StaleVersion', 409: 'StaleVersion', 412: 'StaleVersion' })
      if (version === undefined) await tenants.items.create(document).catch(stale)
      else await tenants.item(LOG_ID, tenantId).replace(document, ifVersion(version)).catch(stale)
    },
  }
}
