import type { Caller } from '../../kernel/caller.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { ColdTenantAccess } from './core-object-references.ts'

/**
 * The core identity that stands for a caller's directory account; the one with the lowest id if there are several. Rows
 * in memory tell it; where there are none, one question to the database does, rather than all of them being loaded.
 * @param freshRows a tenant's rows with everything that was written before the call.
 */
export async function ownIdentity(
  { tenantId, objectId }: Pick<Caller, 'tenantId' | 'objectId'>,
  freshRows: (tenantId: string) => Promise<RowSnapshot>,
  { holds, links }: Pick<ColdTenantAccess, 'holds' | 'links'>,
): Promise<string | undefined> {
  if (holds(tenantId)) return (await freshRows(tenantId)).identityOfAccount(objectId)
  const [lowest] = await links.identitiesOfAccount(tenantId, objectId)
  return lowest
}
