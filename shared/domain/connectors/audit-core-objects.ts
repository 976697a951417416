import type { Metrics } from '../../kernel/metrics.ts'
import { SOFT_DELETION_DEFAULT_DAYS } from './connector.ts'
import type { ConnectorObjectStore } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import { type CoreObjectWriter, mergeCoreObjects } from './merge-core-objects.ts'
import { enqueueDelayedEvaluation, type WriteDependencies } from './write-objects.ts'

/** Core objects compared together. */
const PAGE_COUNT = 1000
/** A batch ends after this time, far below the time limit of a function. */
const BATCH_MS = 30_000

type AuditDependencies = WriteDependencies & { readonly metrics: Metrics }

/** Where an audit continues: after this core object. Without `after`, it begins. */
export type AuditPosition = { readonly tenantId: string; readonly after?: string | undefined }

/**
 * Compares the core objects of a tenant with the merge of their live contributions, one batch in the order of their ids,
 * and merges those that differ. Of several identities that hold one account, all but the oldest claim let go of it. Such
 * differences are left by interrupted writes. A batch that does not reach the end enqueues
 * the next one. Safe to repeat, and beside concurrent writes. Writes nothing where nothing differs.
 */
export async function auditCoreObjects({ tenantId, after }: AuditPosition, deps: AuditDependencies): Promise<void> {
  const connectors = await deps.connectors.list(tenantId)
  const softDeletionDays = Math.max(SOFT_DELETION_DEFAULT_DAYS, ...connectors.map((each) => each.softDeletionDays))
  const rules = rulesOf(connectors)
  await Promise.all([deps.objects.catchUp(tenantId), deps.coreObjects.catchUp(tenantId)])
  let position = after
  let checkedCount = 0
  let repairedCount = 0
  const startMs = deps.nowMs()
  do {
    const { ids, continueAfter } = await nextIds(tenantId, position, deps)
    const stubs = new Map(ids.map((id) => [id, undefined] as const))
    const merge = { stubs, fed: new Set<string>(), comparesAccounts: true, softDeletionDays, rules }
    repairedCount += await mergeCoreObjects(tenantId, merge, deps)
    checkedCount += ids.length
    position = continueAfter
  } while (position !== undefined && deps.nowMs() < startMs + BATCH_MS)
  if (repairedCount > 0) {
    deps.metrics.record('audit.repaired', repairedCount, {})
    deps.log.warn('audit.repaired', { tenantId, repairedCount })
    await enqueueDelayedEvaluation(tenantId, deps)
  }
  deps.log.info('audit.batch-ended', { tenantId, checkedCount, repairedCount, isLast: position === undefined })
  if (position === undefined) return
  const id = `${tenantId}:audit:${position}:${deps.newId()}`
  await deps.messageQueue.enqueue({ queue: 'audits', message: { tenantId, after: position } }, { id })
}

/** Reads of ids in ascending order, from both sides of the comparison. */
type IdDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'coreObjectIds'>
  readonly coreObjects: Pick<CoreObjectWriter, 'liveIds'>
}

/** The next core objects that exist or that live contributions name. `continueAfter` is absent on the last page. */
async function nextIds(
  tenantId: string,
  after: string | undefined,
  { objects, coreObjects }: IdDependencies,
): Promise<{ readonly ids: readonly string[]; readonly continueAfter?: string | undefined }> {
  const pages = await Promise.all([
    objects.coreObjectIds(tenantId, after, PAGE_COUNT),
    coreObjects.liveIds(tenantId, after, PAGE_COUNT),
  ])
  // A full page can have ended between two ids of the other one.
  const [continueAfter] = pages.flatMap((ids) => (ids.length < PAGE_COUNT ? [] : (ids.at(-1) ?? []))).sort()
  const all = new Set(pages.flat())
  return { ids: [...all].filter((id) => continueAfter === undefined || id <= continueAfter), continueAfter }
}
