import type { Log } from '../../kernel/log.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { ObjectType } from '../core/core-object.ts'
import type { SpaceCounts } from './connector-spaces.ts'
import type { UnresolvedReferenceReader } from './unresolved-references.ts'

/**
 * The counts of each connector. Those of objects change in the transactions that write the objects; that of unresolved
 * references after the merge that finds or resolves them.
 */
export interface SpaceCountStore {
  find(tenantId: string, connectorId: string): Promise<Versioned<SpaceCounts> | undefined>
  /** @returns False when the counts have changed since `version`; undefined for counts that must not exist yet. */
  save(tenantId: string, connectorId: string, counts: SpaceCounts, version: string | undefined): Promise<boolean>
  /** Does nothing where no counts are stored. */
  addUnresolved(tenantId: string, connectorId: string, difference: number): Promise<void>
  /** Afterwards the objects are counted when the counts are needed. */
  forget(tenantId: string, connectorId: string): Promise<void>
  /** Counts the stored objects. */
  countObjects(tenantId: string, connectorId: string): Promise<Readonly<Record<ObjectType, number>>>
}

export type CountDependencies = {
  readonly spaceCounts: SpaceCountStore
  readonly coreObjects: Pick<UnresolvedReferenceReader, 'countUnresolved'>
  readonly log: Log
}

/** Changes of the number of unresolved references during one write, by connector. */
export class UnresolvedChanges {
  readonly #changes = new Map<string, number>()

  add(connectorId: string, difference: number): void {
    this.#changes.set(connectorId, (this.#changes.get(connectorId) ?? 0) + difference)
  }

  /** Without connectors whose count has not changed. */
  entries(): readonly (readonly [connectorId: string, difference: number])[] {
    return [...this.#changes].filter(([, difference]) => difference !== 0)
  }
}

/**
 * Applies changes to the stored counts. If that fails, the counts are forgotten rather than wrong; after the death of a
 * process they are wrong until the next daily audit.
 */
export async function applyUnresolved(
  tenantId: string,
  changes: UnresolvedChanges,
  deps: CountDependencies,
): Promise<void> {
  for (const [connectorId, difference] of changes.entries()) {
    try {
      await deps.spaceCounts.addUnresolved(tenantId, connectorId, difference)
    } catch (error) {
      deps.log.error('connectors.counts-failed', error, { tenantId, connectorId })
      await forgetCounts(tenantId, connectorId, deps)
    }
  }
}

export const NO_COUNTS: SpaceCounts = { identity: 0, orgUnit: 0, relationship: 0, unresolved: 0 }

/**
 * Counts what is stored where counts are missing, which a transaction that changes them needs. None can be written
 * between counting and saving.
 */
export async function ensureCounts(tenantId: string, connectorId: string, deps: CountDependencies): Promise<void> {
  if ((await deps.spaceCounts.find(tenantId, connectorId)) === undefined) await recount(tenantId, connectorId, deps)
}

/** Counts again what is stored. Of concurrent writes, one keeps the counts as they are, changed by that write. */
export async function recount(tenantId: string, connectorId: string, deps: CountDependencies): Promise<SpaceCounts> {
  const found = await deps.spaceCounts.find(tenantId, connectorId)
  const counts = await countAll(tenantId, connectorId, deps)
  await deps.spaceCounts.save(tenantId, connectorId, counts, found?.version)
  return counts
}

/**
 * Counts again the unresolved references, which are few. Those that a concurrent merge has found can be counted twice
 * until the next audit.
 */
export async function recountUnresolved(tenantId: string, connectorId: string, deps: CountDependencies): Promise<void> {
  const found = await deps.spaceCounts.find(tenantId, connectorId)
  if (found === undefined) return
  const unresolved = await deps.coreObjects.countUnresolved(tenantId, connectorId)
  if (unresolved === found.value.unresolved) return
  await deps.spaceCounts.save(tenantId, connectorId, { ...found.value, unresolved }, found.version)
}

async function countAll(
  tenantId: string,
  connectorId: string,
  { spaceCounts, coreObjects }: Pick<CountDependencies, 'spaceCounts' | 'coreObjects'>,
): Promise<SpaceCounts> {
  const [objects, unresolved] = await Promise.all([
    spaceCounts.countObjects(tenantId, connectorId),
    coreObjects.countUnresolved(tenantId, connectorId),
  ])
  return { ...objects, unresolved }
}

/** A failure is only logged. */
export async function forgetCounts(
  tenantId: string,
  connectorId: string,
  { spaceCounts, log }: Pick<CountDependencies, 'spaceCounts' | 'log'>,
): Promise<void> {
  await spaceCounts.forget(tenantId, connectorId).catch((error: unknown) => {
    log.error('connectors.counts-failed', error, { tenantId, connectorId })
  })
}
