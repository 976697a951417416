import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { cursors } from '../../shared/http/cursor.ts'
import { container } from './foundation.ts'
import { settings } from './settings.ts'

/** What the core object routes work with. */
export const coreObjectDependencies = {
  coreObjects: cosmosCoreObjectStore(container('coreObjects')),
  cursors: cursors(settings.cursorKeys),
}
