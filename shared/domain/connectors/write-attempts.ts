import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { connectedIdentities } from './connected-identities.ts'
import type { Connector } from './connector.ts'
import { type ConnectorObject, connectorObjectId, type DeriveId, ownCoreObjectId } from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import { type ConnectorRules, rulesOf } from './connector-rules.ts'
import { decideWrite } from './decide-writes.ts'
import { readEarlierNames } from './earlier-names.ts'
import { withMoved } from './former-core-objects.ts'
import { IdentityResolver } from './identity-resolver.ts'
import { joinKeyValues } from './join-keys.ts'
import type { ObjectWrite } from './object-input.ts'
import { parentOfLive, readAncestors } from './org-tree.ts'
import { ensureCounts } from './space-counts.ts'
import type { ItemOutcome, WriteContext, WriteDecision } from './write-decision.ts'
import type { WriteDependencies } from './write-dependencies.ts'
import { limitRefusals } from './write-limits.ts'

/**
 * Consecutive attempts in which concurrent writes of the same objects prevent every write. The limit leaves room for
 * changes of the org tree: all of a connector's conflict with each other, and a large batch takes several transactions.
 */
const ATTEMPTS_WITHOUT_PROGRESS_COUNT = 32

export type WriteScope = {
  readonly tenantId: string
  readonly connector: Connector
  readonly rules: ConnectorRules
  /** Whether the tenant has another connector. */
  readonly hasOthers: boolean
  /** Whether the connector has sent what is written. */
  readonly isDelivery: boolean
}

/** Returns what the writes of one connector have in common. */
export function writeScope(
  tenantId: string,
  connector: Connector,
  connectors: readonly Connector[],
  { isDelivery }: Pick<WriteScope, 'isDelivery'>,
): WriteScope {
  return { tenantId, connector, rules: rulesOf(connectors), hasOthers: connectors.length > 1, isDelivery }
}

/** Returns the decision that was written for each item, in order; undefined for an item that always conflicted. */
export async function writeWithRetries(
  scope: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<(WriteDecision | undefined)[]> {
  const written = new Array<WriteDecision | undefined>(writes.length).fill(undefined)
  let pending = [...writes.keys()]
  for (let attempts = 0; attempts < ATTEMPTS_WITHOUT_PROGRESS_COUNT && pending.length > 0; ) {
    const current = pending.map((index) => writes[index] as ObjectWrite)
    const { decisions, conflicts } = await attemptWrites(scope, current, deps)
    const conflicted: number[] = []
    for (const [position, decision] of decisions.entries()) {
      const index = pending[position] as number
      if (decision.writes.some(({ object }) => conflicts.has(object.id))) conflicted.push(index)
      else written[index] = decision
    }
    // The first write to a space opens it. A closed space belongs to a connector whose deletion is certain.
    if (conflicted.length > 0 && !(await deps.objects.open(scope.tenantId, scope.connector.id))) {
      for (const index of conflicted) written[index] = withoutWrites(refused(refusalEntry('ConnectorNotFound')))
      return written
    }
    if (conflicted.length > 0) await ensureCounts(scope.tenantId, scope.connector.id, deps)
    attempts = conflicted.length < pending.length ? 0 : attempts + 1
    pending = conflicted
  }
  return written
}

/** Decides on all items and writes the decisions. @returns The decisions, and the ids of objects with a conflict. */
async function attemptWrites(
  scope: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<{ decisions: WriteDecision[]; conflicts: ReadonlySet<string> }> {
  const { tenantId, connector, isDelivery } = scope
  const space = { tenantId, connectorId: connector.id, softDeletionDays: connector.softDeletionDays, isDelivery }
  const hasUnits = writes.some(({ objectType }) => objectType === 'orgUnit')
  // Read before the tree, so that a concurrent change of the tree invalidates this version.
  const treeVersion = hasUnits ? await deps.objects.treeVersion(tenantId, connector.id) : undefined
  const context = await readContext(scope, writes, deps)
  const { refusals, reservation } = await limitRefusals(tenantId, writes, context, deps)
  const decided = await deps.scheduler.run(decideAll(peopleInOrder(writes, context), context, refusals))
  const last = new Map<string, ConnectorObjectWrite>()
  for (const write of [...decided.values()].flatMap((decision) => decision.writes)) {
    last.set(write.object.id, afterEarlier(write, last.get(write.object.id)))
  }
  // In the order of the batch, so that one transaction writes what it names side by side: a person under both external ids.
  const decisions = writes.map((write) => decided.get(write) as WriteDecision)
  const due = new Map(
    decisions.flatMap((taken) =>
      taken.writes.map(({ object: { id } }) => [id, counted(last.get(id) as ConnectorObjectWrite, context)]),
    ),
  )
  const { treeWrites = [], otherWrites = [] } = Object.groupBy(due.values(), ({ object }) => {
    const before = context.stored.get(object.id)?.value
    return parentOfLive(object) === parentOfLive(before) ? 'otherWrites' : 'treeWrites'
  })
  const conflicts = await Promise.all([
    deps.objects.write(space, otherWrites),
    deps.objects.writeTree(space, treeWrites, treeVersion),
  ]).finally(reservation.settle)
  return { decisions, conflicts: conflicts[0].union(conflicts[1]) }
}

/**
 * The later write of an object in a batch, with the name that the earlier one frees, and with the identities that moved
 * with it: a repetition completes both.
 */
function afterEarlier(write: ConnectorObjectWrite, earlier: ConnectorObjectWrite | undefined): ConnectorObjectWrite {
  if (earlier === undefined) return write
  const { formerName = earlier.formerName } = write
  const object = withMoved(write.object, earlier.object, write.object.movedIdentities ?? [])
  return { ...write, object, ...(formerName && { formerName }) }
}

/** With the difference that the write makes to the number of live objects. */
function counted(write: ConnectorObjectWrite, { before }: Pick<WriteContext, 'before'>): ConnectorObjectWrite {
  const difference = (object: ConnectorObject) => Number(isLive(object)) - Number(isLive(before(object.id)?.value))
  const former = write.formerName === undefined ? 0 : difference(write.formerName.object)
  return { ...write, liveDifference: difference(write.object) + former }
}

const isLive = (object: ConnectorObject | undefined): boolean =>
  object !== undefined && object.deletedAtMs === undefined

const refused = (...errors: RefusalEntry[]): ItemOutcome => ({ outcome: 'refused', errors })

const withoutWrites = (outcome: ItemOutcome): WriteDecision => ({
  outcome,
  writes: [],
  coreObjects: [],
  retargeted: [],
  possiblyStale: [],
})

/**
 * Orders the writes of identities: changes first, then deletions, then creations. So a person under a new external id
 * is found at once, instead of being another person with the same keys until the deletion. And an identity that
 * continues a deleted one has left others before.
 */
function peopleInOrder(writes: readonly ObjectWrite[], { stored, connectorId, derive }: WriteContext): ObjectWrite[] {
  const isDeparture = ({ operation, objectType }: ObjectWrite) => operation === 'delete' && objectType === 'identity'
  const isArrival = (write: ObjectWrite) =>
    arrives(write, stored.get(connectorObjectId({ ...write, connectorId }, derive))?.value)
  const {
    departures = [],
    arrivals = [],
    others = [],
  } = Object.groupBy(writes, (write) => (isDeparture(write) ? 'departures' : isArrival(write) ? 'arrivals' : 'others'))
  return [...others, ...departures, ...arrivals]
}

/** Whether a write is of an identity that is not live. */
const arrives = ({ objectType }: ObjectWrite, stored: ConnectorObject | undefined): boolean =>
  objectType === 'identity' && !isLive(stored)

/** Decides in order. Each decision sees the org tree as changed by the decisions before it. */
function* decideAll(
  writes: readonly ObjectWrite[],
  context: MutableContext,
  refusals: ReadonlyMap<ObjectWrite, RefusalEntry>,
): Task<ReadonlyMap<ObjectWrite, WriteDecision>> {
  const decisions = new Map<ObjectWrite, WriteDecision>()
  for (const write of writes) {
    yield
    const refusal = refusals.get(write)
    const decision = refusal === undefined ? decideWrite(write, context) : withoutWrites(refused(refusal))
    for (const { object, formerName } of decision.writes) {
      if (object.objectType !== 'orgUnit') continue
      context.parents.set(object.id, parentOfLive(object))
      // References to the former name lead to the unit.
      if (formerName !== undefined) context.parents.set(formerName.object.id, object.id)
    }
    decisions.set(write, decision)
  }
  return decisions
}

type MutableContext = WriteContext & { readonly parents: Map<string, string | undefined> }

async function readContext(
  { tenantId, connector: { id: connectorId }, rules, hasOthers }: WriteScope,
  writes: readonly ObjectWrite[],
  deps: WriteDependencies,
): Promise<MutableContext> {
  const ids = writes.map((write) => connectorObjectId({ ...write, connectorId }, deps.deriveId))
  const formerIds = writes.flatMap((write) => formerIdOf(write, connectorId, deps.deriveId) ?? [])
  // An unchanged or missing object is not written, so no version exposes a stale read. What is read next is as current.
  const found = await deps.objects.ofIds(tenantId, [...ids, ...formerIds])
  const earlierNames = await readEarlierNames(tenantId, found, formerIds, deps.objects)
  const parents = await readAncestors(tenantId, connectorId, writes, deps)
  const stored = new Map(found.map((object) => [object.value.id, object]))
  // With a single connector, no identities can join. One that appears or goes can be a person under a new external id.
  const canJoin =
    hasOthers || writes.some((write, index) => changesKeys(write, stored.get(ids[index] ?? '')?.value, rules))
  const connected = canJoin ? await connectedIdentities(tenantId, ids, writes, found, rules, deps) : []
  const known = new Map([...connected, ...found].map((object) => [object.value.id, object]))
  const identities = [...known.values()].map(({ value }) => value).filter(({ objectType }) => objectType === 'identity')
  const arrivals = writes.flatMap((write, index) => {
    const isRename = stored.has(formerIdOf(write, connectorId, deps.deriveId) ?? '')
    const isArrival = write.operation !== 'delete' && !isRename && arrives(write, stored.get(ids[index] ?? '')?.value)
    return isArrival ? [{ connectorId, data: write.data }] : []
  })
  const ownCoreId = (id: string) => ownCoreObjectId(id, deps.deriveId)
  return {
    connectorId,
    rules,
    stored,
    earlierNames,
    identityResolver: canJoin
      ? new IdentityResolver(identities, { rules, arrivals, newId: deps.newId, ownCoreObjectId: ownCoreId })
      : undefined,
    before: (id) => known.get(id),
    parents,
    parentOf: (id) => parents.get(id),
    derive: deps.deriveId,
    newId: deps.newId,
    nowMs: deps.nowMs(),
  }
}

function formerIdOf(write: ObjectWrite, connectorId: string, derive: DeriveId): string | undefined {
  const externalId = write.operation === 'upsert' ? write.previousExternalId : undefined
  return externalId === undefined ? undefined : connectorObjectId({ ...write, externalId, connectorId }, derive)
}

/** Whether an identity appears, goes, has other join keys than before, or is placed again because other keys count. */
function changesKeys(write: ObjectWrite, stored: ConnectorObject | undefined, rules: ConnectorRules): boolean {
  if (write.objectType !== 'identity') return false
  if (write.operation === 'rejoin') return true
  const isLive = stored !== undefined && stored.deletedAtMs === undefined
  if (write.operation === 'delete' || !isLive) return isLive === (write.operation === 'delete')
  const [before, after] = [stored.data, write.data].map((data) => JSON.stringify(joinKeyValues(data, rules)))
  return before !== after
}
