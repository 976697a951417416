import type { Container, SqlQuerySpec } from '@azure/cosmos'
import { Type } from 'typebox'
import {
  AuditedUntil,
  type ChangedConnectorObject,
  type CoreObjectAudits,
} from '../../domain/connectors/audit-scope.ts'
import { ObjectTypeName } from '../../domain/connectors/connector-object.ts'
import type { ContainerId } from '../containers.ts'
import { documentParser } from '../document-parser.ts'
import { queryAll, readDocument, sqlParameters } from '../documents.ts'

/** Beside the tenant's registration. Without the document, the next audit covers all core objects. */
export const AUDIT_ID = 'core-object-audit'

const parse = documentParser('record of an audit', AuditedUntil)

const Strings = Type.Array(Type.String())

const parseRow = documentParser(
  'changed connector object',
  Type.Object({
    id: Type.String(),
    objectType: ObjectTypeName,
    coreObjectId: Type.String(),
    formerCoreObjectIds: Type.Optional(Strings),
    movedIdentities: Type.Optional(Type.Array(Type.Object({ coreObjectIds: Strings }))),
  }),
)

/** The record is in container `tenants`, what was written in `connectorObjects` and `coreObjects`. */
export function cosmosCoreObjectAudits(container: (id: ContainerId) => Container): CoreObjectAudits {
  const tenants = container('tenants')
  const writtenSince = <T>(id: ContainerId, tenantId: string, query: SqlQuerySpec, count: number) =>
    queryAll<T>(container(id), tenantId, query, { maxItemCount: count })
  return {
    async find(tenantId) {
      const document = await readDocument(tenants, AUDIT_ID, tenantId)
      return document && parse(document)
    },
    async save(tenantId, audited) {
      await tenants.items.upsert({ ...audited, id: AUDIT_ID, tenantId })
    },
    async connectorObjectsSince(tenantId, sinceS, count) {
      const query = `SELECT TOP @count c.id, c.objectType, c.coreObjectId, c.formerCoreObjectIds, c.movedIdentities FROM c
        WHERE c._ts >= @sinceS AND IS_DEFINED(c.coreObjectId)`
      const parameters = sqlParameters({ count, sinceS })
      const rows = await writtenSince<object>('connectorObjects', tenantId, { query, parameters }, count)
      return rows.map(parseRow).map(changedObject)
    },
    coreObjectsSince(tenantId, sinceS, count) {
      const query = 'SELECT TOP @count VALUE c.id FROM c WHERE c._ts >= @sinceS'
      return writtenSince<string>(
        'coreObjects',
        tenantId,
        { query, parameters: sqlParameters({ count, sinceS }) },
        count,
      )
    },
  }
}

function changedObject({ id, objectType, coreObjectId, ...past }: ReturnType<typeof parseRow>): ChangedConnectorObject {
  const moved = (past.movedIdentities ?? []).flatMap(({ coreObjectIds }) => coreObjectIds)
  return { id, objectType, coreObjectIds: [coreObjectId, ...(past.formerCoreObjectIds ?? []), ...moved] }
}
