import type { Versioned } from '../../kernel/versioned.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'

/** An identity who decides for another one during some time. */
export type Deputy = {
  readonly tenantId: string
  /** The identity that is represented. */
  readonly identityId: string
  readonly deputyId: string
  readonly fromMs: number
  /** Exclusive. */
  readonly untilMs: number
}

/** The deputies of a tenant's people. An identity has at most one. */
export interface DeputyStore {
  /** Undefined also when it is over. */
  find(tenantId: string, identityId: string): Promise<Versioned<Deputy> | undefined>
  /** The records of all people whom the identity represents, or will. */
  ofDeputy(tenantId: string, deputyId: string): Promise<Versioned<Deputy>[]>
  all(tenantId: string): Promise<Versioned<Deputy>[]>
  /**
   * Replaces the deputy of the identity, if any.
   * @param version Of the one that is replaced. @throws Refusal `StaleVersion` when it is no longer current.
   */
  save(deputy: Deputy, version?: string): Promise<void>
  /** Does nothing when there is none, or another version of it. */
  remove(tenantId: string, identityId: string, version?: string): Promise<void>
}

/**
 * The identities that the identity represents now. What they decide as deputies of others is not part of it. One that
 * was deleted, or merged into another, has no deputy.
 */
export async function representedBy(
  identityId: string,
  tenantId: string,
  orgChart: OrgChart,
  { deputies, nowMs }: { readonly deputies: Pick<DeputyStore, 'ofDeputy'>; nowMs(): number },
): Promise<string[]> {
  const now = nowMs()
  return (await deputies.ofDeputy(tenantId, identityId))
    .filter(({ value }) => value.fromMs <= now && now < value.untilMs)
    .map(({ value }) => value.identityId)
    .filter((id) => id !== identityId && orgChart.has('identity', id))
    .sort()
}

/**
 * Moves the deputies of merged identities, and those who are deputies, to the identities that remain. An identity that
 * remains and has a deputy keeps its own, unless they are one person by now: no person becomes their own deputy. The
 * order of the stored ones does not matter, and repeating it has no further effect.
 */
export async function renameDeputies(
  stored: readonly Versioned<Deputy>[],
  renamed: ReadonlyMap<string, string>,
  { deputies }: { readonly deputies: DeputyStore },
): Promise<void> {
  const isMerged = ({ value }: Versioned<Deputy>) => Number(renamed.has(value.identityId))
  for (const { value, version } of stored.toSorted((left, right) => isMerged(left) - isMerged(right))) {
    const identityId = renamed.get(value.identityId) ?? value.identityId
    const deputyId = renamed.get(value.deputyId) ?? value.deputyId
    if (identityId === value.identityId && deputyId === value.deputyId) continue
    const { tenantId } = value
    const isMoved = identityId !== value.identityId
    const isTaken = isMoved && (await deputies.find(tenantId, identityId)) !== undefined
    if (identityId !== deputyId && !isTaken) {
      await deputies.save({ ...value, identityId, deputyId }, isMoved ? undefined : version)
    }
    if (isMoved || identityId === deputyId) await deputies.remove(tenantId, value.identityId, version)
  }
}
