import { forEachConcurrent } from '../../kernel/concurrency.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies, EvaluationNotifier } from '../collections/collection-dependencies.ts'
import { compiledTask } from '../collections/live-members.ts'
import type { CreationDependencies, UpdateDependencies } from '../collections/manage-criteria.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import type { KnownLeaves } from '../criteria/arrange-condition.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import type { LinkSettingsStore, RemovalGuard } from '../group-links/link-settings.ts'
import type { LinkStore } from '../group-links/link-store.ts'
import type { RemovalPlanStore } from '../group-links/removal-plan.ts'
import { rejectedAccounts } from '../group-links/removal-rejection.ts'
import { policyOf } from '../membership-requests/join-policy.ts'
import type { RequestStore } from '../membership-requests/request-dependencies.ts'
import type { PlanIds } from './change-plan.ts'
import type { LinkToPlan } from './planned-accounts.ts'
import type { JoinableToPlan } from './planned-eligibility.ts'
import { type PlannedChange, ReferenceGraph } from './reference-graph.ts'

type PlanInputDependencies = Pick<
  CollectionDependencies,
  'collections' | 'memberships' | 'joined' | 'snapshots' | 'scheduler' | 'log'
> & {
  readonly requests: Pick<RequestStore, 'allWaitingIn'>
  readonly linkStore: LinkStore
  readonly linkSettings: LinkSettingsStore
  readonly removalPlans: RemovalPlanStore
}

/** What plans a creation or an update, and an update that must have the effect of its plan. */
export type PlanDependencies = PlanInputDependencies &
  CreationDependencies &
  UpdateDependencies &
  EvaluationNotifier & {
    readonly planIds: PlanIds
    /** A GUID made of texts: the same for the same texts. */
    deriveId(...parts: string[]): string
  }

/** Reads per collection that run at the same time. */
const READS_AT_ONCE_COUNT = 10

/** What the effect of a change depends on, apart from the rows. Read as of all earlier writes of all instances. */
export type PlanInput = {
  readonly change: PlannedChange
  readonly graph: ReferenceGraph
  /** All collections of both kinds, with the changed one as it would be stored. */
  readonly collections: ReadonlyMap<string, Collection>
  readonly conditions: ReadonlyMap<Collection, CompiledCondition | undefined>
  readonly joined: ReadonlyMap<string, CollectionMembers>
  readonly stored: ReadonlyMap<string, readonly string[]>
  readonly links: ReadonlyMap<string, readonly LinkToPlan[]>
  readonly guard: RemovalGuard
  readonly joinables: readonly JoinableToPlan[]
}

/** @param isCompared Whether all other collections are evaluated too, to find those with the same members. */
export async function readPlanInput(
  change: PlannedChange,
  isCompared: boolean,
  deps: PlanInputDependencies,
): Promise<PlanInput> {
  const { tenantId } = change.after
  const [all, { value: settings }, { types }] = await Promise.all([
    deps.collections.list(tenantId),
    deps.linkSettings.find(tenantId),
    deps.snapshots.settingsOf(tenantId),
  ])
  const graph = new ReferenceGraph(
    change,
    all.filter(({ kind }) => kind === 'criteria'),
  )
  const collections = new Map([...all, change.after].map((collection) => [collection.id, collection]))
  const affected = new Set(graph.affected.map(({ id }) => id))
  const candidates = all.filter(
    (collection) =>
      collection.kind === 'joinable' && policyOf(collection).joinableBy.collectionIds.some((id) => affected.has(id)),
  )
  const eligible = candidates.flatMap((candidate) => policyOf(candidate).joinableBy.collectionIds)
  const needed = isCompared ? graph.closureOf(graph.criteria.keys()) : graph.closureOf([...affected, ...eligible])
  const versions = change.before === undefined ? needed : [change.before, ...needed]
  const conditions = await deps.scheduler.run(conditionsTask(versions, types, deps))
  const joinableIds = [...eligible, ...versions.flatMap(({ refersTo }) => refersTo)].filter(
    (id) => collections.get(id)?.kind === 'joinable',
  )
  const [joined, stored, links, joinables] = await Promise.all([
    readJoined(tenantId, [...new Set(joinableIds)], deps),
    readStored(graph, conditions, deps),
    readLinks(tenantId, affected, deps),
    readJoinables(candidates, deps),
  ])
  return {
    change,
    graph,
    collections,
    conditions,
    joined,
    stored,
    links,
    guard: settings.removalGuard,
    joinables,
  }
}

/** The compiled conditions, with shared leaves; undefined for an invalid one, which is logged. */
function* conditionsTask(
  collections: readonly Collection[],
  types: CustomTypes,
  { log }: Pick<PlanInputDependencies, 'log'>,
): Task<Map<Collection, CompiledCondition | undefined>> {
  const conditions = new Map<Collection, CompiledCondition | undefined>()
  const leaves: KnownLeaves = new Map()
  for (const collection of collections) {
    yield
    try {
      conditions.set(collection, yield* compiledTask(collection, types, leaves))
    } catch (error) {
      const { tenantId, id: collectionId } = collection
      log.error('collection.invalid', error, { tenantId, collectionId })
      conditions.set(collection, undefined)
    }
  }
  return conditions
}

async function readJoined(
  tenantId: string,
  ids: readonly string[],
  { joined }: Pick<PlanInputDependencies, 'joined'>,
): Promise<ReadonlyMap<string, CollectionMembers>> {
  const found = ids.length === 0 ? new Map() : await joined.of(tenantId, ids)
  return new Map([...found].map(([id, { memberships }]) => [id, { kind: 'joinable', memberships }]))
}

/** The stored members of the affected collections that cannot be evaluated in one of the versions. */
async function readStored(
  graph: ReferenceGraph,
  conditions: ReadonlyMap<Collection, CompiledCondition | undefined>,
  { memberships }: Pick<PlanInputDependencies, 'memberships'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = new Map<string, readonly string[]>()
  const invalid = new Set([...conditions].flatMap(([{ id }, condition]) => (condition === undefined ? [id] : [])))
  if (invalid.size === 0) return stored
  const kept = graph.affected.filter(({ id }) => graph.closureOf([id]).some((referred) => invalid.has(referred.id)))
  await forEachConcurrent(kept, READS_AT_ONCE_COUNT, async ({ tenantId, id }) => {
    stored.set(id, (await memberships.members(tenantId, id))?.ids ?? [])
  })
  return stored
}

async function readLinks(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  { linkStore, removalPlans }: Pick<PlanInputDependencies, 'linkStore' | 'removalPlans'>,
): Promise<ReadonlyMap<string, readonly LinkToPlan[]>> {
  const all = (await linkStore.ofTenant(tenantId)).map(({ value }) => value)
  const enabled = all.filter(({ state, collectionId }) => state === 'Enabled' && collectionIds.has(collectionId))
  const links: LinkToPlan[] = []
  await forEachConcurrent(enabled, READS_AT_ONCE_COUNT, async (link) => {
    const planId = link.heldRemovals?.planId
    const held = planId === undefined ? new Set<string>() : await removalPlans.accountsOf({ tenantId, planId })
    links.push({ link, held, rejected: await rejectedAccounts(link, { removalPlans }) })
  })
  return Map.groupBy(links, ({ link }) => link.collectionId)
}

async function readJoinables(
  candidates: readonly Collection[],
  { requests }: Pick<PlanInputDependencies, 'requests'>,
): Promise<JoinableToPlan[]> {
  const joinables: JoinableToPlan[] = []
  await forEachConcurrent(candidates, READS_AT_ONCE_COUNT, async (collection) => {
    const { tenantId, id } = collection
    const waiting = (await requests.allWaitingIn(tenantId, id)).map(({ value }) => value)
    joinables.push({ id, joinableBy: policyOf(collection).joinableBy.collectionIds, waiting })
  })
  return joinables
}
