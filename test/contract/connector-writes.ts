import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { ConnectorObjectStore } from '../../shared/domain/connectors/connector-object.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-objects.ts'

/** Dependencies of connector writes on a test database. Messages are discarded. */
export function writeDependencies(database: (id: ContainerId) => Container): WriteDependencies {
  return {
    connectors: cosmosConnectorStore(database('connectors')),
    objects: cosmosConnectorObjectStore(database('connectorObjects')),
    coreObjects: cosmosCoreObjectStore(database('coreObjects')),
    messageQueue: { enqueue: async () => undefined },
    log: { info() {}, warn() {}, error() {} },
    evaluationDelayMs: 0,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
  }
}

/** The same stores, with a function that runs once, before or after the first call of a method. */
export function interruptedWrites(deps: WriteDependencies) {
  return (at: keyof ConnectorObjectStore, when: 'before' | 'after', happening: () => Promise<unknown>) => {
    let isDue = true
    const happenOnce = async (now: 'before' | 'after') => {
      if (now !== when || !isDue) return
      isDue = false
      await happening()
    }
    const run = deps.objects[at] as (...args: unknown[]) => Promise<unknown>
    const replaced = async (...args: unknown[]) => {
      await happenOnce('before')
      const answer = await run(...args)
      await happenOnce('after')
      return answer
    }
    return { ...deps, objects: { ...deps.objects, [at]: replaced } } satisfies WriteDependencies
  }
}
