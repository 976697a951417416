import type { ObjectType } from '../core/core-object.ts'
import type { Doorbells } from '../doorbell.ts'
import type { Log } from '../log.ts'
import { refusalEntry } from '../refusal.ts'
import type { ObjectWrite } from './batch-item.ts'
import { byCreation, type Connector } from './connector.ts'
import { connectorObjectId, type DeriveId, ownCoreObjectId, referenceIds } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorStore } from './connector-store.ts'
import { type Decision, decideWrite, type ItemOutcome, parentIn, type Surroundings } from './decide-writes.ts'
import { joinKeys, type RankOf } from './joining.ts'
import { type CoreObjectWriter, settleCoreObjects } from './settle-core-objects.ts'

export type WriteDependencies = {
  readonly connectors: ConnectorStore
  readonly objects: ConnectorObjectStore
  readonly coreObjects: CoreObjectWriter
  readonly doorbells: Doorbells
  readonly log: Log
  /** Milliseconds for which changes are gathered before collections are evaluated. */
  readonly evaluationDelayMs: number
  readonly deriveId: DeriveId
  newId(): string
  nowMs(): number
}

/** Times that items are decided anew because others wrote the same objects at the same moment. */
const ROUNDS_COUNT = 8

/**
 * Writes to a connector's space and brings the core objects behind it up to date: those of the written objects, and
 * those that refer to objects that appeared, went or moved. Connector objects are written first: whatever ends this
 * call in between, the next write of the same objects mends their core objects.
 * @returns What became of each write, in order.
 */
export async function writeObjects(
  tenantId: string,
  connector: Connector,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<ItemOutcome[]> {
  const rankOf = rankIn(await deps.connectors.list(tenantId))
  const outcomes = new Array<ItemOutcome | undefined>(writes.length)
  const settled: Decision[] = []
  let pending = [...writes.keys()]
  for (let round = 0; round < ROUNDS_COUNT && pending.length > 0; round += 1) {
    const around = await surroundings(tenantId, connector, writes, pending, rankOf, deps)
    const decisions = decideAll(writes, pending, around)
    const all = new Map(decisions.flatMap(({ writes: made }) => made.map((write) => [write.object.id, write] as const)))
    const overtaken = await deps.objects.write(tenantId, [...all.values()], connector.softDeletionDays)
    const isOvertaken = (decision: Decision) => decision.writes.some(({ object }) => overtaken.has(object.id))
    for (const [position, decision] of decisions.entries()) {
      if (isOvertaken(decision)) continue
      outcomes[pending[position] as number] = decision.outcome
      settled.push(decision)
    }
    pending = pending.filter((_, position) => isOvertaken(decisions[position] as Decision))
  }
  const hasSettled = await settle(tenantId, connector, settled, rankOf, deps)
  if (hasSettled || settled.some((decision) => decision.writes.length > 0)) await ring(tenantId, deps)
  return outcomes.map((outcome) => outcome ?? { outcome: 'refused', errors: [refusalEntry('StaleVersion')] })
}

/** In order, each seeing the org tree as the ones before leave it. */
function decideAll(writes: readonly ObjectWrite[], pending: readonly number[], around: Around): Decision[] {
  return pending.map((index) => {
    const write = writes[index] as ObjectWrite
    const decision = decideWrite(write, around)
    for (const { object } of decision.writes) {
      if (object.objectType !== 'orgUnit') continue
      around.parents.set(object.id, object.deletedAtMs === undefined ? parentIn(object.references) : undefined)
    }
    return decision
  })
}

type Around = Surroundings & { readonly parents: Map<string, string | undefined> }

async function surroundings(
  tenantId: string,
  { id: connectorId }: Connector,
  all: readonly ObjectWrite[],
  pending: readonly number[],
  rankOf: RankOf,
  deps: WriteDependencies,
): Promise<Around> {
  const writes = pending.map((index) => all[index] as ObjectWrite)
  const ids = writes.map((write) => connectorObjectId({ ...write, connectorId }, deps.deriveId))
  const [found, joinable, parents] = await Promise.all([
    deps.objects.ofIds(tenantId, ids),
    joinableTo(tenantId, writes, deps),
    parentsAbove(tenantId, connectorId, writes, deps),
  ])
  const stored = new Map(found.map((object) => [object.value.id, object]))
  const coreObjectIds = ids.flatMap((id, position) =>
    writes[position]?.objectType === 'identity'
      ? [ownCoreObjectId(id, deps.deriveId), stored.get(id)?.value.coreObjectId ?? []].flat()
      : [],
  )
  const mates = await deps.objects.ofCoreObjects(tenantId, [...new Set(coreObjectIds)])
  return {
    connectorId,
    stored,
    joinable,
    mates: mates.map(({ value }) => value),
    parents,
    parentOf: (id) => parents.get(id),
    rankOf,
    derive: deps.deriveId,
    newId: deps.newId,
    nowMs: deps.nowMs(),
  }
}

function joinableTo(tenantId: string, writes: readonly ObjectWrite[], { objects }: WriteDependencies) {
  const keys = writes.flatMap((write) =>
    write.operation !== 'delete' && write.objectType === 'identity' ? [joinKeys(write.data)] : [],
  )
  return objects.identitiesByKeys(
    tenantId,
    keys.flatMap(({ nin }) => nin ?? []),
    keys.flatMap(({ directoryObjectId }) => directoryObjectId ?? []),
  )
}

/** The org tree from the parents that the writes name up to the top, one query for each level. */
async function parentsAbove(
  tenantId: string,
  connectorId: string,
  writes: readonly ObjectWrite[],
  { objects, deriveId }: WriteDependencies,
): Promise<Map<string, string | undefined>> {
  const parents = new Map<string, string | undefined>()
  let level = writes.flatMap((write) =>
    write.operation !== 'delete' && write.objectType === 'orgUnit'
      ? (parentIn(referenceIds({ ...write, connectorId }, write.data, deriveId)) ?? [])
      : [],
  )
  while (level.length > 0) {
    const standings = await objects.standings(tenantId, [...new Set(level)])
    for (const { id, isLive, parentId } of standings) parents.set(id, isLive ? parentId : undefined)
    level = standings.flatMap(({ isLive, parentId }) =>
      isLive && parentId !== undefined && !parents.has(parentId) ? [parentId] : [],
    )
  }
  return parents
}

/** @returns Whether any core object changed. */
async function settle(
  tenantId: string,
  { softDeletionDays }: Connector,
  decisions: readonly Decision[],
  rankOf: RankOf,
  deps: WriteDependencies,
): Promise<boolean> {
  const moved = Map.groupBy(
    decisions.flatMap((decision) => decision.moved),
    ({ objectType }) => objectType,
  )
  const referring = await Promise.all(
    [...moved].map(([objectType, objects]: [ObjectType, readonly { id: string }[]]) =>
      deps.objects.coreObjectsReferringTo(
        tenantId,
        objectType,
        objects.map(({ id }) => id),
      ),
    ),
  )
  const coreObjectIds = new Set([...decisions.flatMap((decision) => decision.coreObjectIds), ...referring.flat()])
  return settleCoreObjects(tenantId, [...coreObjectIds], softDeletionDays, rankOf, deps)
}

function rankIn(connectors: readonly Connector[]): RankOf {
  const ranks = new Map(connectors.toSorted(byCreation).map(({ id }, rank) => [id, rank]))
  return (connectorId) => ranks.get(connectorId) ?? Number.MAX_SAFE_INTEGER
}

/** A ring that fails must not turn a write that was made into a failure: the sweep finds what was missed. */
async function ring(tenantId: string, { doorbells, evaluationDelayMs, newId, log }: WriteDependencies): Promise<void> {
  try {
    await doorbells.ring(
      { queue: 'evaluations', message: { tenantId } },
      { id: `${tenantId}:${newId()}`, delayMs: evaluationDelayMs },
    )
  } catch (error) {
    log.error('connector-data.ring-failed', error, { tenantId })
  }
}
