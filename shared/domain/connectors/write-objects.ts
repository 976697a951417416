import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { type RefusalCode, refusalEntry } from '../../kernel/refusals.ts'
import type { ConnectorStore } from './connector.ts'
import { byCreation, type Connector } from './connector.ts'
import type { ConnectorObjectStore } from './connector-object.ts'
import { connectorObjectId, type DeriveId, ownCoreObjectId } from './connector-object.ts'
import { decideWrite, type ItemOutcome, type WriteContext, type WriteDecision } from './decide-writes.ts'
import { connectedIdentities, IdentityResolver, joinKeys, type RankOf } from './identity-resolver.ts'
import { type CoreObjectWriter, mergeCoreObjects, staleCoreObjects } from './merge-core-objects.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import type { ObjectWrite } from './object-input.ts'
import { parentOfLive, readAncestors } from './org-tree.ts'

export type WriteDependencies = {
  readonly connectors: ConnectorStore
  readonly objects: ConnectorObjectStore
  readonly coreObjects: CoreObjectWriter
  readonly messageQueue: MessageQueue
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
const ATTEMPTS_WITHOUT_PROGRESS_COUNT = 32

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
  const before = await writeScope(tenantId, connector, deps)
  const written = await writeWithRetries(before, writes, deps)
  // Two connectors may have brought the same person at one moment, neither seeing the other: the later one sees. The
  // other may have been added since this one began.
  const again = rejoins(writes, written)
  const place = before.hasOthers || again.length === 0 ? before : await writeScope(tenantId, connector, deps)
  const rejoined = place.hasOthers ? await writeWithRetries(place, again, deps) : []
  const decisions = [...written, ...rejoined].filter((decision) => decision !== undefined)
  const hasSettled = await mergeAffected(place, decisions, deps)
  if (hasSettled || decisions.some((decision) => decision.writes.length > 0)) await enqueueEvaluation(tenantId, deps)
  return written.map((decision) => decision?.outcome ?? refused('StaleVersion'))
}

type WriteScope = {
  readonly tenantId: string
  readonly connector: Connector
  readonly rankOf: RankOf
  /** Whether the tenant has another connector. */
  readonly hasOthers: boolean
}

async function writeScope(tenantId: string, connector: Connector, deps: WriteDependencies): Promise<WriteScope> {
  const connectors = await deps.connectors.list(tenantId)
  return { tenantId, connector, rankOf: rankIn(connectors), hasOthers: connectors.length > 1 }
}

/** What was decided and written for each, in order; undefined where others were always faster. */
async function writeWithRetries(
  place: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<(WriteDecision | undefined)[]> {
  const written = new Array<WriteDecision | undefined>(writes.length).fill(undefined)
  let pending = [...writes.keys()]
  for (let idleRounds = 0; idleRounds < ATTEMPTS_WITHOUT_PROGRESS_COUNT && pending.length > 0; ) {
    const current = pending.map((index) => writes[index] as ObjectWrite)
    const { decisions, overtaken } = await attemptWrites(place, current, deps)
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
async function attemptWrites(
  place: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<{ decisions: WriteDecision[]; overtaken: ReadonlySet<string> }> {
  const { tenantId, connector } = place
  const space = { tenantId, connectorId: connector.id, softDeletionDays: connector.softDeletionDays }
  const hasUnits = writes.some(({ objectType }) => objectType === 'orgUnit')
  // Read before the tree is: whoever changes it meanwhile makes this stale.
  const treeVersion = hasUnits ? await deps.objects.treeVersion(tenantId, connector.id) : undefined
  const around = await readContext(place, writes, deps)
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

const ofNothing = (outcome: ItemOutcome): WriteDecision => ({
  outcome,
  writes: [],
  coreObjects: [],
  retargeted: [],
  possiblyStale: [],
})

/** The identities that were written and have something to be joined by. */
function rejoins(writes: readonly ObjectWrite[], written: readonly (WriteDecision | undefined)[]): ObjectWrite[] {
  return writes.flatMap((write, index) => {
    if (write.operation === 'delete' || write.objectType !== 'identity') return []
    const { nin, directoryObjectId } = joinKeys(write.data)
    const isJoinable = nin !== undefined || directoryObjectId !== undefined
    const isWritten = (written[index]?.writes.length ?? 0) > 0
    return isJoinable && isWritten ? [{ ...write, operation: 'rejoin' as const }] : []
  })
}

/** In order, each seeing the org tree as the ones before leave it. */
function decideAll(writes: readonly ObjectWrite[], around: MutableContext): WriteDecision[] {
  return writes.map((write) => {
    const decision = decideWrite(write, around)
    for (const { object } of decision.writes) {
      if (object.objectType !== 'orgUnit') continue
      around.parents.set(object.id, parentOfLive(object))
    }
    return decision
  })
}

type MutableContext = WriteContext & { readonly parents: Map<string, string | undefined> }

async function readContext(
  { tenantId, connector: { id: connectorId }, rankOf, hasOthers }: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<MutableContext> {
  const ids = writes.map((write) => connectorObjectId({ ...write, connectorId }, deps.deriveId))
  const [found, parents] = await Promise.all([
    deps.objects.ofIds(tenantId, ids),
    readAncestors(tenantId, connectorId, writes, deps),
  ])
  const stored = new Map(found.map((object) => [object.value.id, object]))
  // With one connector there is nobody to be joined with.
  const around = hasOthers ? await connectedIdentities(tenantId, ids, writes, found, deps) : []
  const known = new Map([...around, ...found].map((object) => [object.value.id, object]))
  const identities = [...known.values()].map(({ value }) => value).filter(({ objectType }) => objectType === 'identity')
  const ownCoreId = (id: string) => ownCoreObjectId(id, deps.deriveId)
  return {
    connectorId,
    stored,
    identityResolver: hasOthers
      ? new IdentityResolver(identities, { rankOf, newId: deps.newId, ownCoreObjectId: ownCoreId })
      : undefined,
    before: (id) => known.get(id),
    parents,
    parentOf: (id) => parents.get(id),
    derive: deps.deriveId,
    nowMs: deps.nowMs(),
  }
}

/** @returns Whether any core object changed. */
async function mergeAffected(
  { tenantId, connector, rankOf }: WriteScope,
  decisions: readonly WriteDecision[],
  deps: WriteDependencies,
): Promise<boolean> {
  const written = stubsById(decisions.flatMap((decision) => decision.coreObjects))
  const left = decisions.flatMap((decision) => decision.possiblyStale)
  const doubtful = stubsById(left.flatMap((object) => object.coreObjects).filter(({ id }) => !written.has(id)))
  const stale = await staleCoreObjects(tenantId, [...doubtful.keys()], rankOf, deps)
  const late = left.filter((object) => object.coreObjects.some(({ id }) => stale.has(id)))
  const moved = Map.groupBy(
    [...decisions.flatMap((decision) => decision.retargeted), ...late],
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
  return mergeCoreObjects(tenantId, traces, connector.softDeletionDays, rankOf, deps)
}

const stubsById = (traces: readonly CoreObjectStub[]): Map<string, CoreObjectStub> =>
  new Map(traces.map((trace) => [trace.id, trace]))

function rankIn(connectors: readonly Connector[]): RankOf {
  const ranks = new Map(connectors.toSorted(byCreation).map(({ id }, rank) => [id, rank]))
  return (connectorId) => ranks.get(connectorId) ?? Number.MAX_SAFE_INTEGER
}

/** A ring that fails must not turn a write that was made into a failure: the sweep finds what was missed. */
async function enqueueEvaluation(
  tenantId: string,
  { messageQueue, evaluationDelayMs, newId, log }: WriteDependencies,
): Promise<void> {
  try {
    await messageQueue.enqueue(
      { queue: 'evaluations', message: { tenantId } },
      { id: `${tenantId}:${newId()}`, delayMs: evaluationDelayMs },
    )
  } catch (error) {
    log.error('connector-data.ring-failed', error, { tenantId })
  }
}
