import type { Doorbells } from '../doorbell.ts'
import type { Log } from '../log.ts'
import { refusalEntry } from '../refusal.ts'
import type { ObjectWrite } from './batch-item.ts'
import { byCreation, type Connector } from './connector.ts'
import { connectorObjectId, type DeriveId, ownCoreObjectId, referenceIds } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorStore } from './connector-store.ts'
import { type Decision, decideWrite, type ItemOutcome, parentIn, type Surroundings } from './decide-writes.ts'
import { identitiesAround } from './identities-around.ts'
import { joinKeys, type RankOf } from './joining.ts'
import { People } from './people.ts'
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
  const connectors = await deps.connectors.list(tenantId)
  const place = { tenantId, connector, rankOf: rankIn(connectors), hasOthers: connectors.length > 1 }
  const written = await writeInRounds(place, writes, deps)
  // Two connectors may have brought the same person at one moment, neither seeing the other: the later one sees.
  const rejoined = place.hasOthers ? await writeInRounds(place, rejoins(writes, written), deps) : []
  const decisions = [...written, ...rejoined].filter((decision) => decision !== undefined)
  const hasSettled = await settle(place, decisions, deps)
  if (hasSettled || decisions.some((decision) => decision.writes.length > 0)) await ring(tenantId, deps)
  return written.map((decision) => decision?.outcome ?? { outcome: 'refused', errors: [refusalEntry('StaleVersion')] })
}

type Place = {
  readonly tenantId: string
  readonly connector: Connector
  readonly rankOf: RankOf
  /** Whether the tenant has another connector. */
  readonly hasOthers: boolean
}

/** What was decided and written for each, in order; undefined where others were always faster. */
async function writeInRounds(
  place: Place,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<(Decision | undefined)[]> {
  const written = new Array<Decision | undefined>(writes.length).fill(undefined)
  let pending = [...writes.keys()]
  for (let round = 0; round < ROUNDS_COUNT && pending.length > 0; round += 1) {
    const current = pending.map((index) => writes[index] as ObjectWrite)
    const decisions = decideAll(current, await surroundings(place, current, deps))
    const due = new Map(decisions.flatMap((decision) => decision.writes.map((write) => [write.object.id, write])))
    const overtaken = await deps.objects.write(place.tenantId, [...due.values()], place.connector.softDeletionDays)
    const late: number[] = []
    for (const [position, decision] of decisions.entries()) {
      const index = pending[position] as number
      if (decision.writes.some(({ object }) => overtaken.has(object.id))) late.push(index)
      else written[index] = decision
    }
    pending = late
  }
  return written
}

/** The identities that were written and have something to be joined by. */
function rejoins(writes: readonly ObjectWrite[], written: readonly (Decision | undefined)[]): ObjectWrite[] {
  return writes.flatMap((write, index) => {
    if (write.operation === 'delete' || write.objectType !== 'identity') return []
    const { nin, directoryObjectId } = joinKeys(write.data)
    const isJoinable = nin !== undefined || directoryObjectId !== undefined
    const isWritten = (written[index]?.writes.length ?? 0) > 0
    return isJoinable && isWritten ? [{ ...write, operation: 'rejoin' as const }] : []
  })
}

/** In order, each seeing the org tree as the ones before leave it. */
function decideAll(writes: readonly ObjectWrite[], around: Around): Decision[] {
  return writes.map((write) => {
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
  { tenantId, connector: { id: connectorId }, rankOf, hasOthers }: Place,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<Around> {
  const ids = writes.map((write) => connectorObjectId({ ...write, connectorId }, deps.deriveId))
  const [found, parents] = await Promise.all([
    deps.objects.ofIds(tenantId, ids),
    parentsAbove(tenantId, connectorId, writes, deps),
  ])
  const stored = new Map(found.map((object) => [object.value.id, object]))
  // With one connector there is nobody to be joined with.
  const around = hasOthers ? await identitiesAround(tenantId, ids, writes, found, deps) : []
  const known = new Map([...around, ...found].map((object) => [object.value.id, object]))
  const identities = [...known.values()].map(({ value }) => value).filter(({ objectType }) => objectType === 'identity')
  const ownCoreId = (id: string) => ownCoreObjectId(id, deps.deriveId)
  return {
    connectorId,
    stored,
    people: hasOthers ? new People(identities, { rankOf, newId: deps.newId, ownCoreObjectId: ownCoreId }) : undefined,
    versionOf: (id) => known.get(id)?.version,
    coreObjectOf: (id) => known.get(id)?.value.coreObjectId,
    parents,
    parentOf: (id) => parents.get(id),
    derive: deps.deriveId,
    nowMs: deps.nowMs(),
  }
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
  { tenantId, connector, rankOf }: Place,
  decisions: readonly Decision[],
  deps: WriteDependencies,
): Promise<boolean> {
  const moved = Map.groupBy(
    decisions.flatMap((decision) => decision.moved),
    ({ objectType }) => objectType,
  )
  const referring = await Promise.all(
    [...moved].map(([objectType, objects]) =>
      deps.objects.coreObjectsReferringTo(
        tenantId,
        objectType,
        objects.map(({ id }) => id),
      ),
    ),
  )
  const traces = new Map([
    ...referring.flat().map((id) => [id, undefined] as const),
    ...decisions.flatMap((decision) => decision.coreObjects.map((trace) => [trace.id, trace] as const)),
  ])
  return settleCoreObjects(tenantId, traces, connector.softDeletionDays, rankOf, deps)
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
