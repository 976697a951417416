import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { nowMs } from './clock.ts'
import { openCursors } from './cursors.ts'
import { container, messageQueue, newId } from './foundation.ts'
import { log } from './observation.ts'
import { settings } from './settings.ts'

/** What the connector routes work with. */
export const connectorDependencies = {
  connectors: cosmosConnectorStore(container('connectors')),
  objects: cosmosConnectorObjectStore(container('connectorObjects')),
  coreObjects: cosmosCoreObjectStore(container('coreObjects')),
  cursors: openCursors,
  messageQueue,
  log,
  evaluationDelayMs: settings.evaluationDelayMs,
  deriveId: derivedId,
  newId,
  nowMs,
}
