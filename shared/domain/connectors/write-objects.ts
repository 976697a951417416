import type { CoreObjectTrace } from '../core/merged-core-object.ts'
import type { Doorbells } from '../doorbell.ts'
import type { Log } from '../log.ts'
import { type RefusalCode, refusalEntry } from '../refusal.ts'
import type { ObjectWrite } from './batch-item.ts'
import { byCreation, type Connector } from './connector.ts'
import { connectorObjectId, type DeriveId, ownCoreObjectId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorStore } from './connector-store.ts'
import { type Decision, decideWrite, type ItemOutcome, type Surroundings } from './decide-writes.ts'
import { identitiesAround } from './identities-around.ts'
import { joinKeys, type RankOf } from './joining.ts'
import { parentOfLive } from './parent-cycle.ts'
import { parentsAbove } from './parents-above.ts'
import { People } from './people.ts'
import { type CoreObjectWriter, settleCoreObjects, staleCoreObjects } from './settle-core-objects.ts'

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

/**
 * Times in a row that items are decided anew, none of them written, because others wrote the same objects at the same
 * moment. Whoever changes the org tree waits for all who do: a batch of thousand units does so in eleven transactions.
 */
const IDLE_ROUNDS_COUNT = 32

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
  // What is decided to be the same, or not there, is not written, and no version is quoted that could turn out stale.
  const [before] = await Promise.all([placeOf(tenantId, connector, deps), deps.objects.catchUp(tenantId)])
  const written = await writeInRounds(before, writes, deps)
  // Two connectors may have brought the same person at one moment, neither seeing the other: the later one sees. The
  // other may have been added since this one began.
  const again = rejoins(writes, written)
  const place = before.hasOthers || again.length === 0 ? before : await placeOf(tenantId, connector, deps)
  const rejoined = place.hasOthers ? await writeInRounds(place, again, deps) : []
  const decisions = [...written, ...rejoined].filter((decision) => decision !== undefined)
  const hasSettled = await settle(place, decisions, deps)
  if (hasSettled || decisions.some((decision) => decision.writes.length > 0)) await ring(tenantId, deps)
  return written.map((decision) => decision?.outcome ?? refused('StaleVersion'))
}

type Place = {
  readonly tenantId: string
  readonly connector: Connector
  readonly rankOf: RankOf
  /** Whether the tenant has another connector. */
  readonly hasOthers: boolean
}

async function placeOf(tenantId: string, connector: Connector, deps: WriteDependencies): Promise<Place> {
  const connectors = await deps.connectors.list(tenantId)
  return { tenantId, connector, rankOf: rankIn(connectors), hasOthers: connectors.length > 1 }
}

/** What was decided and written for each, in order; undefined where others were always faster. */
async function writeInRounds(
  place: Place,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<(Decision | undefined)[]> {
  const written = new Array<Decision | undefined>(writes.length).fill(undefined)
  let pending = [...writes.keys()]
  for (let idleRounds = 0; idleRounds < IDLE_ROUNDS_COUNT && pending.length > 0; ) {
    const current = pending.map((index) => writes[index] as ObjectWrite)
    const { decisions, overtaken } = await writeRound(place, current, deps)
    const late: number[] = []
    for (const [position, decision] of decisions.entries()) {
      const index = pending[position] as number
      if (decision.writes.some(({ object }) => overtaken.has(object.id))) late.push(index)
      else written[index] = decision
    }
    // The first writes to a space find it unopened; one that was closed belongs to a connector that is being deleted.
    if (late.length > 0 && !(await deps.objects.open(place.tenantId, place.connector.id))) {
      for (const index of late) written[index] = ofNothing(refused('ConnectorNotFound'))
      return written
    }
    idleRounds = late.length < pending.length ? 0 : idleRounds + 1
    pending = late
  }
  return written
}

/** Decides once on all, and writes what is decided. */
async function writeRound(
  place: Place,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<{ decisions: Decision[]; overtaken: ReadonlySet<string> }> {
  const { tenantId, connector } = place
  const space = { tenantId, connectorId: connector.id, softDeletionDays: connector.softDeletionDays }
  const hasUnits = writes.some(({ objectType }) => objectType === 'orgUnit')
  // Read before the tree is: whoever changes it meanwhile makes this stale.
  const treeVersion = hasUnits ? await deps.objects.treeVersion(tenantId, connector.id) : undefined
  const around = await surroundings(place, writes, deps)
  const decisions = decideAll(writes, around)
  const due = new Map(decisions.flatMap((decision) => decision.writes.map((write) => [write.object.id, write])))
  const { inTree = [], beside = [] } = Object.groupBy(due.values(), ({ object }) => {
    const before = around.stored.get(object.id)?.value
    return parentOfLive(object) === parentOfLive(before) ? 'beside' : 'inTree'
  })
  const overtaken = await Promise.all([
    deps.objects.write(space, beside),
    deps.objects.writeTree(space, inTree, treeVersion),
  ])
  return { decisions, overtaken: overtaken[0].union(overtaken[1]) }
}

const refused = (code: RefusalCode): ItemOutcome => ({ outcome: 'refused', errors: [refusalEntry(code)] })

const ofNothing = (outcome: ItemOutcome): Decision => ({ outcome, writes: [], coreObjects: [], moved: [], left: [] })

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
      around.parents.set(object.id, parentOfLive(object))
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
    before: (id) => known.get(id),
    parents,
    parentOf: (id) => parents.get(id),
    derive: deps.deriveId,
    nowMs: deps.nowMs(),
  }
}

/** @returns Whether any core object changed. */
async function settle(
  { tenantId, connector, rankOf }: Place,
  decisions: readonly Decision[],
  deps: WriteDependencies,
): Promise<boolean> {
  if (decisions.length === 0) return false
  // Core objects that are as they should be are not written: that must not be decided on an older state of them.
  await deps.coreObjects.catchUp(tenantId)
  const written = tracesById(decisions.flatMap((decision) => decision.coreObjects))
  const left = decisions.flatMap((decision) => decision.left)
  const doubtful = tracesById(left.flatMap((object) => object.coreObjects).filter(({ id }) => !written.has(id)))
  const stale = await staleCoreObjects(tenantId, [...doubtful.keys()], rankOf, deps)
  const late = left.filter((object) => object.coreObjects.some(({ id }) => stale.has(id)))
  const moved = Map.groupBy(
    [...decisions.flatMap((decision) => decision.moved), ...late],
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
  const own = new Map([...written, ...[...doubtful].filter(([id]) => stale.has(id))])
  const others = referring.flat().filter((id) => !own.has(id))
  const traces = new Map([...others.map((id) => [id, undefined] as const), ...own])
  return settleCoreObjects(tenantId, traces, connector.softDeletionDays, rankOf, deps)
}

const tracesById = (traces: readonly CoreObjectTrace[]): Map<string, CoreObjectTrace> =>
  new Map(traces.map((trace) => [trace.id, trace]))

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
