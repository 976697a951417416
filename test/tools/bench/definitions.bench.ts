import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyPlan } from '../../../infra/definitions/apply-plan.ts'
import { readDefinitionFiles } from '../../../infra/definitions/definition-file.ts'
import { exportDefinitions } from '../../../infra/definitions/export-definitions.ts'
import { planDefinitions } from '../../../infra/definitions/plan-definitions.ts'
import { readTenant } from '../../../infra/definitions/tenant.ts'
import { type ApiCall, connect } from '../../../infra/import/api-connection.ts'
import { forEachConcurrent } from '../../../shared/kernel/concurrency.ts'
import { applicationToken, personToken } from '../../support/journeys/demo-clients.ts'
import {
  newDataFolder,
  type StartedEnvironment,
  startedEnvironment,
} from '../../support/journeys/started-environment.ts'

/**
 * A tenant of 300 collections that refer to each other, and 100 links, as files: exported, deleted, applied and exported
 * again. The files are equal byte for byte, and a plan finds nothing to do. Ends with 1 when a bar is missed. Usage:
 * `npm run bench -- definitions`.
 */
const CRITERIA_COUNT = 200
const JOINABLE_COUNT = 100
const LINK_COUNT = 100
const BAR_S = 60
const CALLS_AT_ONCE_COUNT = 4

const CRITERIA = '/collections-criteria/beta'
const JOINABLE = '/collections-joinable/beta'
const TITLES = ['Teacher', 'Nurse', 'Rektor', 'Æresmedlem: "a"', '007', 'yes']

const print = (line: string) => process.stdout.write(`${line}\n`)

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })

async function create(call: ApiCall, path: string, body: object): Promise<string> {
  return String((await call('POST', path, body)).data)
}

/** Each criteria collection but the first ones refers to two of the first 20. */
async function createCriteria(call: ApiCall): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < CRITERIA_COUNT; index += 1) {
    const others = index < 20 ? [] : [ids[index % 20], ids[(index * 7) % 20]].filter((id) => id !== undefined)
    const byTitle = leaf('relationshipTitle', index % 3 === 0 ? 'NotEquals' : 'Contains', TITLES[index % TITLES.length])
    const byMembers = leaf('memberOfCollection', 'In', [...new Set(others)])
    const conditions = others.length === 0 ? [byTitle] : [{ groupOperator: 'OR', conditions: [byTitle, byMembers] }]
    const about = index % 5 === 0 ? { description: `Line one: ${index}\nLine two #` } : {}
    const metadata = index % 4 === 0 ? { metadata: { tags: ['a', `t${index}`], attributes: { n: `${index}` } } } : {}
    const condition = { groupOperator: 'AND', conditions }
    const name = `Criteria ${index} ${TITLES[index % TITLES.length]}`
    ids.push(await create(call, CRITERIA, { objectType: 'Relationship', name, condition, ...about, ...metadata }))
  }
  return ids
}

/** Each joinable collection names a criteria collection and the next joinable one: all are one circle. */
async function createJoinable(call: ApiCall, criteria: readonly string[]): Promise<void> {
  const ids: string[] = []
  const policyOf = (index: number, other: string | undefined) => ({
    approvalRequired: true,
    approvalGates: [
      { order: 1, type: 'Manager' },
      ...(other === undefined ? [] : [{ order: 2, type: 'Collection', approvers: [other, criteria[index]] }]),
    ],
    joinableBy: { collectionIds: [criteria[index + 1]] },
    ...(index % 3 === 0 ? { maxDays: 30 + index } : {}),
  })
  const objectType = 'Identity'
  for (let index = 0; index < JOINABLE_COUNT; index += 1) {
    const joinPolicy = policyOf(index, ids.at(-1))
    ids.push(await create(call, JOINABLE, { objectType, name: `Joinable ${index}`, joinPolicy }))
  }
  await call('PUT', `${JOINABLE}/${ids[0]}`, { objectType, joinPolicy: policyOf(0, ids.at(-1)) })
}

async function createLinks(environment: StartedEnvironment, call: ApiCall, ids: readonly string[]): Promise<void> {
  const token = await applicationToken(environment, 'tester', 'https://graph.microsoft.com/.default')
  const indexes = Array.from({ length: LINK_COUNT }, (_, index) => index)
  await forEachConcurrent(indexes, CALLS_AT_ONCE_COUNT, async (index) => {
    const kind = { groupTypes: [], mailEnabled: false, securityEnabled: true }
    const json = { displayName: `Files ${index}`, mailNickname: `files${index}`, ...kind }
    const group = (await environment.directory('POST', '/v1.0/groups', { token, json })).json as { id: string }
    const body = { collectionId: ids[index], directoryGroupId: group.id }
    const id = await create(call, '/group-link/beta/group-links', body)
    if (index % 10 === 0) await call('PATCH', `/group-link/beta/group-links/${id}`, { state: 'Disabled' })
  })
}

function contents(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

async function exported(folder: string, call: ApiCall): Promise<Map<string, string>> {
  await exportDefinitions(folder, await readTenant(call), false, call)
  return contents(folder)
}

async function planOf(folder: string, call: ApiCall) {
  const { files, faults } = readDefinitionFiles(folder)
  const plan = await planDefinitions(files, await readTenant(call), true, call)
  assert.deepEqual([...faults, ...plan.faults], [])
  return plan
}

async function apply(folder: string, call: ApiCall): Promise<number> {
  const plan = await planOf(folder, call)
  const { done, refused } = await applyPlan(plan, call, { done: () => undefined, plannedAgain: () => undefined })
  assert.equal(refused?.error.message, undefined)
  return done.length
}

const environment = await startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '500' })
try {
  const call = await connect({
    apiUrl: environment.apiUrl,
    token: await personToken(environment, 'admin'),
    credentials: undefined,
  })
  const empty = newDataFolder()
  await apply(empty, call)
  const criteria = await createCriteria(call)
  await createJoinable(call, criteria)
  await createLinks(environment, call, criteria)
  print(`${CRITERIA_COUNT + JOINABLE_COUNT} collections and ${LINK_COUNT} links exist`)

  let totalMs = 0
  const timed = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    const startMs = performance.now()
    const result = await work()
    const durationMs = performance.now() - startMs
    totalMs += durationMs
    print(`${what.padEnd(40)} ${(durationMs / 1000).toFixed(1).padStart(6)} s`)
    return result
  }
  const [first, second] = [newDataFolder(), newDataFolder()]
  const before = await timed('export', () => exported(first, call))
  const deleted = await timed('delete everything', () => apply(empty, call))
  const created = await timed('apply', () => apply(first, call))
  const after = await timed('export again', () => exported(second, call))
  const { steps } = await timed('plan', () => planOf(second, call))
  assert.deepEqual(after, before)
  assert.deepEqual(steps, [])
  print(`${before.size} equal files, ${deleted} steps to delete, ${created} steps to create, nothing left to do`)
  const isMet = totalMs < BAR_S * 1000
  print(
    `${'in all'.padEnd(40)} ${(totalMs / 1000).toFixed(1).padStart(6)} s, at most ${BAR_S}: ${isMet ? 'met' : 'MISSED'}`,
  )
  process.exitCode = isMet ? 0 : 1
} finally {
  await environment.stop()
}
