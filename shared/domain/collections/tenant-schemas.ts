import { type Static, Type } from 'typebox'
import { Closed } from '../../kernel/schema.ts'
import { type ConditionDependencies, tenantConditionSchema } from './condition-entry.ts'

const AttributeTypes = Type.Record(Type.String(), Type.String())

export const TenantSchemas = Closed({
  identitySchema: AttributeTypes,
  relationshipSchema: AttributeTypes,
  orgUnitSchema: AttributeTypes,
  userSchema: AttributeTypes,
  groupSchema: AttributeTypes,
})
export type TenantSchemas = Static<typeof TenantSchemas>

/**
 * What conditions of each object type may name. A row shows identity, relationship and org unit together, so these
 * three are one and the same; directory objects have nothing to filter on until they are read in.
 */
export async function tenantSchemas(tenantId: string, deps: ConditionDependencies): Promise<TenantSchemas> {
  const rows = Object.fromEntries(await tenantConditionSchema(tenantId, deps))
  return { identitySchema: rows, relationshipSchema: rows, orgUnitSchema: rows, userSchema: {}, groupSchema: {} }
}
