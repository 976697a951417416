import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-objects.ts'

/** What connectors' objects are written with, on a test's database, with nobody who listens. */
export function writeDependencies(database: (id: ContainerId) => Container): WriteDependencies {
  return {
    connectors: cosmosConnectorStore(database('connectors')),
    objects: cosmosConnectorObjectStore(database('connectorObjects')),
    coreObjects: cosmosCoreObjectStore(database('coreObjects')),
    doorbells: { ring: async () => undefined },
    log: { info() {}, warn() {}, error() {} },
    evaluationDelayMs: 0,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
  }
}
