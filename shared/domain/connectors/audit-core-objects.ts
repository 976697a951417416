import { enqueueAudit } from '../../kernel/enqueue-messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { type CoreObjectAudits, coreObjectsToAudit } from './audit-scope.ts'
import { type Connector, SOFT_DELETION_DEFAULT_DAYS } from './connector.ts'
import { rulesOf } from './connector-rules.ts'
import { mergeCoreObjects } from './merge-core-objects.ts'
import { settleJoinKeys, storableSinceMs } from './pending-join-keys.ts'
import { placeAgain } from './place-again.ts'
import { recount, recountUnresolved } from './space-counts.ts'
import { storeJoinKeys } from './store-join-keys.ts'
import type { WriteDependencies } from './write-dependencies.ts'
import { enqueueDelayedEvaluation } from './write-objects.ts'

/** Core objects compared together. */
const PAGE_COUNT = 1000
/** A batch ends after this time, far below the time limit of a function. */
const BATCH_MS = 30_000

type AuditDependencies = WriteDependencies & { readonly audits: CoreObjectAudits; readonly metrics: Metrics }

/** Where a complete audit that began earlier continues: after this core object. Without `after`, an audit begins. */
export type AuditPosition = {
  readonly tenantId: string
  readonly after?: string | undefined
  /** First, only the join keys of all identities are stored. The audit itself follows. */
  readonly stage?: 'keys' | undefined
  /** The keys that are stored in this stage have been pending since these times. */
  readonly pendingSinceMs?: readonly number[] | undefined
  /** Whether the join keys were stored before this audit, because others may count. */
  readonly hasOtherKeys?: boolean | undefined
  readonly beganAtMs?: number | undefined
}

/**
 * Compares core objects of a tenant with the merge of their live contributions, and merges those that differ. Of
 * several identities that hold one account, all but the oldest claim release it. It also joins and splits people by their
 * keys and the present settings of their connectors: `placeAgain`. Such differences are left by interrupted writes, beside
 * which others may have written identities of the same people. So the daily audit compares what was written since the
 * last one; all core objects at least every 84 days, in case a difference has another cause. Writes no core object where
 * nothing differs.
 *
 * A complete audit goes through the ids in batches: each enqueues the next one. Safe to repeat, and beside concurrent
 * writes.
 */
export async function auditCoreObjects(position: AuditPosition, deps: AuditDependencies): Promise<void> {
  const { tenantId, after, stage } = position
  const startMs = deps.nowMs()
  const connectors = await deps.connectors.list(tenantId)
  if (stage === 'keys') return storeAllKeys(position, connectors, deps)
  // Storing them has not ended, or an earlier release has done it, which does not settle them.
  if (after === undefined && connectors.some(({ keysPendingSinceMs }) => keysPendingSinceMs !== undefined)) {
    return storeAllKeys({ tenantId, after: FIRST_ID, stage: 'keys', beganAtMs: startMs }, connectors, deps)
  }
  const audited = after === undefined ? await deps.audits.find(tenantId) : undefined
  const basis = { audited, connectors, nowMs: startMs }
  const ids = after === undefined ? await coreObjectsToAudit(tenantId, basis, deps) : undefined
  if (ids === undefined || audited === undefined) {
    return auditAll(after === undefined ? { tenantId, beganAtMs: startMs } : position, connectors, deps)
  }
  const repairedCount = ids.length === 0 ? 0 : await repair(tenantId, ids, connectors, deps)
  await report(tenantId, { checkedCount: ids.length, repairedCount, isComplete: false, isLast: true }, deps)
  if (ids.length > 0) for (const { id } of connectors) await recountUnresolved(tenantId, id, deps)
  await deps.audits.save(tenantId, { ...audited, auditedAtMs: startMs })
}

/** Before all others. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * One batch of storing join keys. The last one settles those that were pending when the first one began, and enqueues
 * the complete audit.
 */
async function storeAllKeys(
  { tenantId, after, beganAtMs = 0, pendingSinceMs = [] }: AuditPosition,
  connectors: readonly Connector[],
  deps: AuditDependencies,
): Promise<void> {
  const next = (from: string | undefined) => nextIdentities(tenantId, from, deps)
  const settledSinceMs = after === FIRST_ID ? storableSinceMs(connectors, beganAtMs) : pendingSinceMs
  const position = await eachPage(after, next, deps, async (ids) => {
    // Read for each page: keys that were listed meanwhile are not to be removed from identities again.
    await storeJoinKeys(tenantId, ids, await deps.connectors.list(tenantId), deps)
  })
  if (position === undefined) await settleJoinKeys(tenantId, settledSinceMs, deps)
  const rest =
    position === undefined
      ? { after: FIRST_ID, hasOtherKeys: true }
      : { after: position, stage: 'keys' as const, pendingSinceMs: settledSinceMs }
  await enqueueAudit({ tenantId, ...rest, beganAtMs }, deps.newId(), deps)
}

/** Ids of core objects in order. `continueAfter` is absent on the last page. */
type IdPage = { readonly ids: readonly string[]; readonly continueAfter?: string | undefined }

/**
 * Does the work for ids of core objects, page by page, until a batch has taken its time.
 * @returns The id after which the next batch continues; undefined at the end.
 */
async function eachPage(
  after: string | undefined,
  next: (after: string | undefined) => Promise<IdPage>,
  deps: AuditDependencies,
  work: (ids: readonly string[]) => Promise<void>,
): Promise<string | undefined> {
  const startMs = deps.nowMs()
  let position = after
  do {
    const { ids, continueAfter } = await next(position)
    await work(ids)
    position = continueAfter
  } while (position !== undefined && deps.nowMs() < startMs + BATCH_MS)
  return position
}

/** One batch of a complete audit. */
async function auditAll(
  { tenantId, after, hasOtherKeys, beganAtMs }: AuditPosition,
  connectors: readonly Connector[],
  deps: AuditDependencies,
): Promise<void> {
  let checkedCount = 0
  let repairedCount = 0
  const next = (from: string | undefined) => nextIds(tenantId, from, deps)
  const position = await eachPage(after, next, deps, async (ids) => {
    repairedCount += await repair(tenantId, ids, connectors, deps, hasOtherKeys)
    checkedCount += ids.length
  })
  await report(tenantId, { checkedCount, repairedCount, isComplete: true, isLast: position === undefined }, deps)
  if (position !== undefined) {
    await enqueueAudit({ tenantId, after: position, hasOtherKeys, beganAtMs }, deps.newId(), deps)
    return
  }
  for (const { id } of connectors) await recount(tenantId, id, deps)
  if (beganAtMs !== undefined) {
    await deps.audits.save(tenantId, { auditedAtMs: beganAtMs, completeAtMs: beganAtMs })
  }
}

/** @returns The number of identities that have moved, and of core objects repaired. */
async function repair(
  tenantId: string,
  ids: readonly string[],
  connectors: readonly Connector[],
  deps: AuditDependencies,
  hasOtherKeys?: boolean,
): Promise<number> {
  const movedCount = await placeAgain(tenantId, ids, connectors, deps, hasOtherKeys)
  return movedCount + (await compare(tenantId, ids, connectors, deps))
}

/** @returns The number of core objects repaired. Those whose texts were only normalised are logged apart. */
async function compare(
  tenantId: string,
  ids: readonly string[],
  connectors: readonly Connector[],
  deps: AuditDependencies,
): Promise<number> {
  const softDeletionDays = Math.max(
    SOFT_DELETION_DEFAULT_DAYS,
    ...connectors.map((connector) => connector.softDeletionDays),
  )
  const stubs = new Map(ids.map((id) => [id, undefined] as const))
  const rules = rulesOf(connectors)
  const merge = { stubs, changedIds: new Set<string>(), comparesAccounts: true, softDeletionDays, rules }
  const { writtenCount, normalisedCount } = await mergeCoreObjects(tenantId, merge, deps)
  if (normalisedCount > 0) deps.log.info('audit.normalised', { tenantId, normalisedCount })
  return writtenCount - normalisedCount
}

type AuditedBatch = {
  readonly checkedCount: number
  readonly repairedCount: number
  readonly isComplete: boolean
  readonly isLast: boolean
}

async function report(tenantId: string, batch: AuditedBatch, deps: AuditDependencies): Promise<void> {
  const { repairedCount } = batch
  if (repairedCount > 0) {
    deps.metrics.record('audit.repaired', repairedCount, {})
    deps.log.warn('audit.repaired', { tenantId, repairedCount })
    await enqueueDelayedEvaluation(tenantId, deps)
  }
  deps.log.info('audit.batch-ended', { tenantId, ...batch })
}

/** The core objects of the next identities, soft-deleted ones included. */
async function nextIdentities(
  tenantId: string,
  after: string | undefined,
  { objects }: Pick<WriteDependencies, 'objects'>,
): Promise<IdPage> {
  const ids = await objects.coreObjectIdsOfIdentities(tenantId, after, PAGE_COUNT)
  return { ids: [...new Set(ids)], continueAfter: ids.length < PAGE_COUNT ? undefined : ids.at(-1) }
}

/** The next core objects that exist or that live contributions name. */
async function nextIds(
  tenantId: string,
  after: string | undefined,
  { objects, coreObjects }: Pick<WriteDependencies, 'objects' | 'coreObjects'>,
): Promise<IdPage> {
  const pages = await Promise.all([
    objects.coreObjectIds(tenantId, after, PAGE_COUNT),
    coreObjects.liveIds(tenantId, after, PAGE_COUNT),
  ])
  // A full page can have ended between two ids of the other one.
  const [continueAfter] = pages.flatMap((ids) => (ids.length < PAGE_COUNT ? [] : (ids.at(-1) ?? []))).sort()
  const all = new Set(pages.flat())
  return { ids: [...all].filter((id) => continueAfter === undefined || id <= continueAfter), continueAfter }
}
