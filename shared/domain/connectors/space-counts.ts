import type { Log } from '../../kernel/log.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { SpaceCounts } from './connector-object.ts'
import type { UnresolvedReferenceReader } from './unresolved-references.ts'

/** The counts of each connector. They change with its objects, shortly after them. */
export interface SpaceCountStore {
  find(tenantId: string, connectorId: string): Promise<Versioned<SpaceCounts> | undefined>
  /** @returns False when the counts have changed since `version`; undefined for counts that must not exist yet. */
  save(tenantId: string, connectorId: string, counts: SpaceCounts, version: string | undefined): Promise<boolean>
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

/** Changes of counts during one write, by connector. */
export class CountChanges {
  readonly #changes = new Map<string, Map<keyof SpaceCounts, number>>()

  add(connectorId: string, what: keyof SpaceCounts, difference: number): void {
    const own = this.#changes.get(connectorId) ?? new Map<keyof SpaceCounts, number>()
    own.set(what, (own.get(what) ?? 0) + difference)
    this.#changes.set(connectorId, own)
  }

  /** Without connectors of which nothing has changed. */
  entries(): readonly (readonly [connectorId: string, differences: ReadonlyMap<keyof SpaceCounts, number>])[] {
    return [...this.#changes].filter(([, own]) => own.values().some((difference) => difference !== 0))
  }
}

const MAX_ATTEMPTS = 10

/**
 * Applies changes to the stored counts. If that fails, the counts are forgotten rather than wrong; after the death of a
 * process they are wrong until the next daily audit.
 */
export async function applyCounts(tenantId: string, changes: CountChanges, deps: CountDependencies): Promise<void> {
  for (const [connectorId, differences] of changes.entries()) {
    try {
      await apply(tenantId, connectorId, differences, deps)
    } catch (error) {
      deps.log.error('connectors.counts-failed', error, { tenantId, connectorId })
      await forgetCounts(tenantId, connectorId, deps)
    }
  }
}

async function apply(
  tenantId: string,
  connectorId: string,
  differences: ReadonlyMap<keyof SpaceCounts, number>,
  deps: CountDependencies,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const found = await deps.spaceCounts.find(tenantId, connectorId)
    const counts = found === undefined ? await countAll(tenantId, connectorId, deps) : changed(found.value, differences)
    if (await deps.spaceCounts.save(tenantId, connectorId, counts, found?.version)) return
  }
  throw new Error(`The counts of connector ${connectorId} kept changing`)
}

export const NO_COUNTS: SpaceCounts = { identity: 0, orgUnit: 0, relationship: 0, unresolved: 0 }

function changed(counts: SpaceCounts, differences: ReadonlyMap<keyof SpaceCounts, number>): SpaceCounts {
  const all = [...OBJECT_TYPES, 'unresolved'] as const
  const entries = all.map((what) => [what, Math.max(0, counts[what] + (differences.get(what) ?? 0))])
  return { ...NO_COUNTS, ...Object.fromEntries(entries) }
}

/** Counts again what is stored. Of concurrent writes, some can be counted twice until the next count. */
export async function recount(tenantId: string, connectorId: string, deps: CountDependencies): Promise<SpaceCounts> {
  const found = await deps.spaceCounts.find(tenantId, connectorId)
  const counts = await countAll(tenantId, connectorId, deps)
  await deps.spaceCounts.save(tenantId, connectorId, counts, found?.version)
  return counts
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
