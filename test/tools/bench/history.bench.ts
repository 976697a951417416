import { randomBytes, randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { createContainers } from '../../../infra/local/cosmos/local-account.ts'
import { startCosmosProcess } from '../../../infra/local/cosmos/process.ts'
import {
  CHANGE_TYPE,
  changesIn,
  PART_TYPE,
  type StoredChange,
  storedChange,
} from '../../../shared/cosmos/change-document.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import { cosmosMembershipStore } from '../../../shared/cosmos/members/membership-store.ts'
import type { EvaluatedMembers } from '../../../shared/domain/collections/membership-store.ts'
import { readResultsAsOf } from '../../../shared/domain/insight/members-as-of.ts'
import { chunk } from '../../../shared/kernel/chunk.ts'
import { builtService } from '../../support/api/built-service.ts'

/**
 * What the history of members costs: the request units, by the local database, that it adds to storing the members of
 * an evaluation with the changes that incremental syncs follow, and the time to read the members of a year ago. Ends
 * with 1 when a bar is missed. Usage: `npm run bench -- history`.
 */
const MEMBER_COUNT = 100_000
const CHANGE_COUNT = 10_000
const READS_COUNT = 5
const AS_OF_BAR_MS = 1000
const ADDED_BAR = 0.25
const YEAR_MS = 365 * 24 * 60 * 60 * 1000
const TENANT = randomUUID()

const print = (line: string) => process.stdout.write(`${line}\n`)
const database = await startCosmosProcess({
  port: 0,
  file: ':memory:',
  key: randomBytes(64).toString('base64'),
  strict: true,
})
await createContainers(database.endpoint, database.key)
const container = openDatabase(database)
let isMissed = false
const verdict = (isMet: boolean) => {
  isMissed ||= !isMet
  return isMet ? 'met' : 'MISSED'
}

/** A container with what incremental syncs need of a change, and nothing else of the history. */
function withoutHistory(members: Container): Container {
  const { items } = members
  const batch = (operations: OperationInput[], ...rest: [string]) => {
    const kept = operations.flatMap(forSyncsOnly)
    return kept.length === 0 ? Promise.resolve({ code: 200, result: [] }) : items.batch(kept, ...rest)
  }
  const parts = { item: members.item.bind(members), items: { batch, query: items.query.bind(items) } }
  return parts as unknown as Container
}

/** A change as it was before there was a history: its ids as lists, unless there are more than 10,000. */
function forSyncsOnly(operation: OperationInput): OperationInput[] {
  const body = ('resourceBody' in operation ? operation.resourceBody : undefined) as Record<string, unknown> | undefined
  if (body?.type !== CHANGE_TYPE && body?.type !== PART_TYPE) return [operation]
  if (body.type === PART_TYPE || body.partsOf !== undefined) return []
  const { id, membersOf, type, ttl, membershipVersion } = body
  const causes = changesIn(body as unknown as StoredChange)
  const [added, removed] = [causes.flatMap((cause) => cause.added), causes.flatMap((cause) => cause.removed)]
  const resourceBody = { id, membersOf, type, ttl, membershipVersion, added, removed } as JSONObject
  return [{ operationType: 'Upsert', resourceBody }]
}

const ids = Array.from({ length: MEMBER_COUNT }, () => randomUUID())

/** Request units of storing evaluations: the first one, then each with fewer members by this number. */
async function unitsOf(memberCount: number, changeCounts: readonly number[], members: Container): Promise<number[]> {
  const store = cosmosMembershipStore(members, { historyDays: 400, nowMs: () => Date.now() })
  const collectionId = randomUUID()
  let left = ids.slice(0, memberCount)
  let head: Awaited<ReturnType<typeof store.replace>>['head'] | undefined
  const units: number[] = []
  for (const changeCount of [0, ...changeCounts]) {
    left = left.slice(changeCount)
    const before = (await database.workDone()).requestUnits
    head = (await store.replace(TENANT, collectionId, head, evaluationOf(left.toSorted(), Date.now()))).head
    units.push((await database.workDone()).requestUnits - before)
  }
  return units
}

/** All changes have one cause. */
function evaluationOf(memberIds: readonly string[], evaluatedAtMs: number): EvaluatedMembers {
  const attribute: EvaluatedMembers['attribute'] = async (change) => [
    { cause: 'DefinitionChanged', actorId: 'system', ...change },
  ]
  return { ids: memberIds, definitionKey: '1', evaluatedAtMs, epoch: 1, unfencedEpoch: 0, attribute }
}

function collectionOf(tenantId: string, id: string, createdAtMs: number) {
  const leaf = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Ann' }
  return {
    id,
    tenantId,
    kind: 'criteria',
    objectType: 'Identity',
    name: 'Anns',
    description: null,
    definition: { groupOperator: 'AND', conditions: [leaf] },
    definitionVersion: 1,
    definedBy: 'system',
    metadata: { tags: [], attributes: {} },
    refersTo: [],
    createdBy: 'bench',
    createdAtMs,
    updatedAtMs: createdAtMs,
  } as const
}

for (const [memberCount, changeCounts] of [
  [300, [1, 100]],
  [10_000, [1, 100, 1000]],
  [MEMBER_COUNT, [1, 100, 10_000, 50_000]],
] as const) {
  const [without, withIt] = [
    await unitsOf(memberCount, changeCounts, withoutHistory(container('members'))),
    await unitsOf(memberCount, changeCounts, container('members')),
  ]
  for (const [index, units] of withIt.entries()) {
    const base = without[index] ?? Number.NaN
    const added = units / base - 1
    const what = index === 0 ? 'first evaluation' : `${changeCounts[index - 1]} changes`
    print(
      `${memberCount} members, ${what}: ${base.toFixed(0)} RU, ${(units - base).toFixed(1)} more for the history: ` +
        `${(added * 100).toFixed(1)} % (${verdict(added <= ADDED_BAR)}: at most ${ADDED_BAR * 100} %)`,
    )
  }
}

/** A collection with one change after the other, within a year; they leave the members as they were. */
async function collectionWithHistory(): Promise<string> {
  const { collections } = builtService(container)
  const [id, createdAtMs] = [randomUUID(), Date.now() - YEAR_MS]
  await collections.collections.add(collectionOf(TENANT, id, createdAtMs), undefined)
  const evaluation = evaluationOf(ids.toSorted(), createdAtMs)
  await collections.memberships.replace(TENANT, id, undefined, evaluation)
  const partition = `${TENANT}:${id}`
  const versions = Array.from({ length: CHANGE_COUNT }, (_, index) => index + 2)
  for (const batch of chunk(versions, 100)) {
    const operations = batch.map((membershipVersion): OperationInput => {
      const member = [ids[Math.floor(membershipVersion / 2)] ?? '']
      const lists = membershipVersion % 2 === 0 ? { added: [], removed: member } : { added: member, removed: [] }
      const atMs = createdAtMs + (membershipVersion * YEAR_MS) / (CHANGE_COUNT + 2)
      const changes = [{ cause: 'ObjectChanged', actorId: 'system', ...lists } as const]
      const { change } = storedChange({ membershipVersion, atMs }, changes, 'none')
      const resourceBody = { ...change, id: `change:${membershipVersion}`, type: CHANGE_TYPE, membersOf: partition }
      return { operationType: 'Upsert', resourceBody }
    })
    await container('members').items.batch(operations, partition)
  }
  const { resource: head } = await container('members').item('head', partition).read()
  await container('members')
    .item('head', partition)
    .replace({ ...head, membershipVersion: CHANGE_COUNT + 1 })
  return id
}

const id = await collectionWithHistory()
const { requests: deps } = builtService(container)
const asOf = new Date(Date.now() - YEAR_MS + 60_000).toISOString()
const stall = monitorEventLoopDelay({ resolution: 1 })
const timesMs: number[] = []
const before = (await database.workDone()).requestUnits
stall.enable()
for (let read = 0; read < READS_COUNT; read += 1) {
  const startMs = performance.now()
  const { memberIds } = await readResultsAsOf(TENANT, id, asOf, deps)
  timesMs.push(performance.now() - startMs)
  if (memberIds.length !== MEMBER_COUNT) throw new Error(`There were ${memberIds.length} members`)
}
stall.disable()
const units = ((await database.workDone()).requestUnits - before) / READS_COUNT
timesMs.sort((left, right) => left - right)
const [median = Number.NaN, slowest = Number.NaN] = [timesMs[Math.floor(READS_COUNT / 2)], timesMs.at(-1)]
print(
  `members of ${MEMBER_COUNT} a year ago, ${CHANGE_COUNT} changes since: median ${median.toFixed(0)} ms, slowest ` +
    `${slowest.toFixed(0)} ms, ${units.toFixed(0)} RU, longest stall ${(stall.max / 1e6).toFixed(0)} ms ` +
    `(${verdict(slowest < AS_OF_BAR_MS)}: under ${AS_OF_BAR_MS} ms)`,
)
await database.close()
process.exitCode = isMissed ? 1 : 0
