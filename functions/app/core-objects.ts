import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { ObjectAccessResolver } from '../../shared/domain/object-access/object-access.ts'
import { coldTenantAccess, freshRows } from './collections.ts'
import { openCursors } from './cursors.ts'
import { container } from './foundation.ts'

/** What the core object routes work with. Sight goes by the same rows in memory as evaluation, where they are there. */
export const coreObjectDependencies = {
  coreObjects: cosmosCoreObjectStore(container('coreObjects')),
  objectAccess: new ObjectAccessResolver(freshRows, coldTenantAccess),
  cursors: openCursors,
}
