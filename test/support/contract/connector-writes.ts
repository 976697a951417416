import type { Overrides } from '../../../functions/app/service.ts'
import type { ConnectorObjectStore } from '../../../shared/domain/connectors/connector-object-store.ts'
import type { ConnectorDependencies } from '../../../shared/domain/connectors/manage-connectors.ts'
import type { WriteDependencies } from '../../../shared/domain/connectors/write-dependencies.ts'
import { builtService } from '../api/built-service.ts'

/** The dependencies of connectors and of writes to them on a test's database. Messages are dropped. */
export function writeDependencies(
  database: NonNullable<Overrides['container']>,
): WriteDependencies & ConnectorDependencies {
  return builtService(database, { nowMs: () => Date.parse('2030-01-01T00:00:00Z') }).connectors
}

/** The stores, with an action that runs once: before or after the first call of one method. */
export function interruptedWrites<Deps extends WriteDependencies>(deps: Deps) {
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
    return { ...deps, objects: { ...deps.objects, [at]: replaced } } as Deps
  }
}
