import { cosmosCoreObjectLinks } from '../../shared/cosmos/core-object-links.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { Sights } from '../../shared/domain/core/sight.ts'
import { collectionDependencies } from './collections.ts'
import { openCursors } from './cursors.ts'
import { container } from './foundation.ts'

const { snapshots } = collectionDependencies

/** What the core object routes work with. Sight goes by the same rows in memory as evaluation, where they are there. */
export const coreObjectDependencies = {
  coreObjects: cosmosCoreObjectStore(container('coreObjects')),
  sights: new Sights((tenantId) => snapshots.fresh(tenantId), {
    holds: (tenantId) => snapshots.holds(tenantId),
    links: cosmosCoreObjectLinks(container('coreObjects')),
  }),
  cursors: openCursors,
}
