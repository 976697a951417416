import type { Container } from '@azure/cosmos'
import type { ConnectorAuditTrail } from '../../domain/connectors/connector-audit.ts'
import { auditDocument, cosmosAuditTrail } from '../audit-trail.ts'
import { createUnlessExists } from '../documents.ts'

/** Beside the connectors, whose partition is listed whole, also by earlier versions of the service. */
const partitionOf = (tenantId: string): string => `${tenantId}:audit`

/** Container `connectors`, partition key `/tenantId`. The records of a tenant have a partition of their own. */
export function cosmosConnectorAuditTrail(connectors: Container): ConnectorAuditTrail {
  const trail = cosmosAuditTrail([connectors])
  return {
    page: (tenantId, ...range) => trail.page(partitionOf(tenantId), ...range),
    async keep(record) {
      await createUnlessExists(connectors, { ...auditDocument(record), tenantId: partitionOf(record.tenantId) })
    },
  }
}
