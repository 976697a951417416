import { randomUUID } from 'node:crypto'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { DEFAULT_LINK_SETTINGS } from '../../../shared/domain/group-links/link-settings.ts'
import { planUpdate, updateAsPlanned } from '../../../shared/domain/insight/plan-change.ts'
import type { PlanDependencies } from '../../../shared/domain/insight/plan-input.ts'
import type { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import { signedPlanIds } from '../../../shared/http/plan-ids.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import type { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'
import { conditionNumber } from './generated-tenant.ts'

const DEPENDENT_COUNT = 200
const JOINABLE_COUNT = 20
const NOW_MS = Date.parse('2026-02-11T12:00:00Z')
/** Milliseconds of a plan, and of the longest time for which it holds up others. */
const PLAN_BAR_MS = 3000
const STALL_BAR_MS = 50

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const all = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })

/** About half of all positions, and about a quarter: the change adds and removes hundreds of thousands. */
const BEFORE = all(leaf('relationshipType', 'Equals', 'permanent'))
const AFTER = all(leaf('orgUnitType', 'In', ['hospital', 'office']))

/** A collection with 200 that refer to it, one in ten of them through another; all of them linked. */
function tenantOf(tenantId: string) {
  const collection = (definition: object, refersTo: readonly string[], kind: Collection['kind'] = 'criteria') =>
    ({
      id: randomUUID(),
      tenantId,
      kind,
      objectType: 'Relationship',
      name: 'A collection',
      description: null,
      definition,
      refersTo,
      definitionVersion: 1,
      metadata: { tags: [], attributes: {} },
      createdBy: 'x',
      definedBy: 'x',
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    }) as Collection
  const base = collection(BEFORE, [])
  const dependents: Collection[] = []
  for (let index = 0; index < DEPENDENT_COUNT; index += 1) {
    const to = index % 10 === 9 ? (dependents.at(-1) ?? base).id : base.id
    dependents.push(collection(all(leaf('memberOfCollection', 'Equals', to), conditionNumber(index)), [to]))
  }
  const joinables = dependents.slice(0, JOINABLE_COUNT).map(({ id }) => {
    const policy = { approvalRequired: false, approvalGates: [], joinableBy: { collectionIds: [id, base.id] } }
    return collection(policy, [id, base.id], 'joinable')
  })
  const links = [base, ...dependents].map(({ id: collectionId }): { value: GroupLink; version: string } => {
    const names = { id: randomUUID(), directoryGroupId: randomUUID() }
    const link = newLink({ ...names, tenantId, collectionId, directoryGroupDisplayName: null }, NOW_MS)
    return { value: { ...link, userCount: 1000, hasAdded: true }, version: '1' }
  })
  return { base, collections: [base, ...dependents, ...joinables], links }
}

/** The dependencies of a plan, without a database: what is measured is the computation. */
function dependenciesOf(tenantId: string, snapshots: TenantSnapshots, scheduler: CooperativeScheduler) {
  const { base, collections, links } = tenantOf(tenantId)
  const done = async () => undefined
  const deps = {
    snapshots,
    scheduler,
    collections: {
      list: async (_tenantId: string, listedKind?: string) =>
        collections.filter(({ kind }) => listedKind === undefined || kind === listedKind),
      find: async () => ({ value: base, version: '1' }),
      existing: async () => [],
      referenceVersion: async () => '1',
      serialize: async <T>(_tenantId: string, run: () => Promise<T>) => run(),
      replace: async (value: Collection) => ({ value, version: '2' }),
    },
    joined: { of: async () => new Map() },
    requests: { allWaitingIn: async () => [] },
    linkStore: { ofTenant: async () => links },
    linkSettings: { find: async () => ({ value: DEFAULT_LINK_SETTINGS, version: '1' }) },
    messageQueue: { enqueue: done },
    log: { info() {}, warn() {}, error() {} },
    planIds: signedPlanIds(async () => ['a2V5']),
    deriveId: derivedId,
    newId: randomUUID,
    nowMs: () => NOW_MS,
  }
  return { deps: deps as unknown as PlanDependencies, baseId: base.id }
}

/** What the one thread has worked so far. Unlike a clock it stands while the machine does something else. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The work of the thread, and the longest time of it without serving a timer that is due all the time. */
async function measured<T>(work: () => Promise<T>): Promise<{ result: T; totalMs: number; stallMs: number }> {
  const startMs = workedMs()
  let stallMs = 0
  let lastMs = startMs
  const look = () => {
    const nowMs = workedMs()
    stallMs = Math.max(stallMs, nowMs - lastMs)
    lastMs = nowMs
  }
  const timer = setInterval(look, 1)
  const result = await work().finally(() => clearInterval(timer))
  look()
  return { result, totalMs: workedMs() - startMs, stallMs }
}

/**
 * How long the plan of a change takes that affects 200 other collections, and the check before it is saved. Counts the
 * work of the thread.
 * @returns Whether the bars are met.
 */
export async function measurePlans(
  tenantId: string,
  snapshots: TenantSnapshots,
  scheduler: CooperativeScheduler,
  report: (line: string) => void,
): Promise<boolean> {
  const { deps, baseId } = dependenciesOf(tenantId, snapshots, scheduler)
  const caller: Caller = { kind: 'application', tenantId, objectId: 'x', clientId: 'x', roles: new Set() }
  const body = { objectType: 'Relationship', condition: AFTER } as const
  const update = { id: baseId, body, ifMatch: undefined, caller }
  const plan = await measured(() => planUpdate(update, deps))
  const { collections, links, planId } = plan.result
  const saving = await measured(() => updateAsPlanned(update, planId, deps))
  const memberCount = collections.reduce((sum, { added, removed }) => sum + added + removed, 0)
  const heldCount = links.filter(({ wouldHold }) => wouldHold).length
  const rows = await snapshots.fresh(tenantId)
  const isMet = Math.max(plan.totalMs, saving.totalMs) < PLAN_BAR_MS
  const isSmooth = Math.max(plan.stallMs, saving.stallMs) < STALL_BAR_MS
  report(
    `plan over ${DEPENDENT_COUNT} dependent collections and ${rows.rowCount} rows: ${plan.totalMs.toFixed(0)} ms, ` +
      `with If-Plan ${saving.totalMs.toFixed(0)} ms (${isMet ? 'met' : 'MISSED'}: under ${PLAN_BAR_MS} ms); ` +
      `${memberCount} members of ${collections.length} collections change, ${links.length} groups, ${heldCount} held`,
  )
  report(
    `longest time that a plan holds up others: ${plan.stallMs.toFixed(0)} ms, with If-Plan ` +
      `${saving.stallMs.toFixed(0)} ms (${isSmooth ? 'met' : 'MISSED'}: under ${STALL_BAR_MS} ms)`,
  )
  return isMet && isSmooth
}
