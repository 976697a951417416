import { randomUUID } from 'node:crypto'
import type { Service } from '../../../functions/app/service.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import { sweepTenant } from '../../../shared/domain/sync/sweep.ts'
import { inProcess } from '../../support/contract/local-database.ts'
import { identity, openAccountFixture } from '../../support/jobs/account-fixture.ts'
import { TENANT, users } from '../../support/jobs/link-directory.ts'

const MEMBERS_COUNT = 20
const HOUR_MS = 3_600_000

export type SweepCost = {
  readonly requestUnits: number
  readonly operations: number
  readonly messages: number
  readonly calls: number
}

/** Until no link is due for a comparison because it is new to the sweeps. */
const FIRST_HOURS_COUNT = 3

/** New members in an hour, each of another one of some linked collections. */
const CHANGES_PER_HOUR_COUNT = 5
const CHANGING_COUNT = 10

/**
 * The mean cost of an hourly sweep while each link is compared, and afterwards, without changes and after some in each
 * hour; and of an evaluation where nothing is due, in an instance that has evaluated the tenant before and in one that
 * has only loaded its rows.
 */
export async function measureSweeps(
  linkCount: number,
  hoursCount: number,
): Promise<Record<'first' | 'hourly' | 'afterChanges' | 'evaluation' | 'coldEvaluation', SweepCost>> {
  const fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
  const newInstance = () => {
    const container = openDatabase(inProcess(fixture.cosmos))
    return fixture.newService({ elapsedMs: fixture.clock.nowMs, container })
  }
  const { links: deps, evaluator } = newInstance()
  const accounts = users(0, MEMBERS_COUNT)
  const source = await fixture.newSource()
  await fixture.write(
    source,
    ...accounts.map((account, index) => identity(`${index}`, { displayName: 'Member', directoryObjectId: account })),
  )
  const nowMs = fixture.clock.nowMs()
  for (let count = 0; count < linkCount; count += 1) {
    const isChanging = count < CHANGING_COUNT
    const name = isChanging ? `Guest ${count}` : 'Member'
    const collectionId = await fixture.criteria('Identity', 'identityDisplayName', name)
    const directoryGroupId = await fixture.newGroup({}, isChanging ? [] : accounts)
    const collectionKind = 'criteria' as const
    const ids = { id: randomUUID(), tenantId: TENANT, collectionId, directoryGroupId, collectionKind }
    await deps.links.add({
      ...newLink({ ...ids, directoryGroupDisplayName: 'A group' }, nowMs),
      appliedMembershipVersion: 1,
    })
  }
  await evaluator.evaluate(TENANT)
  fixture.sentMessages.length = 0

  const costOf = async (count: number, work: () => Promise<number>): Promise<SweepCost> => {
    const operations = () => Object.values(fixture.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const [unitsBefore, operationsBefore] = [fixture.cosmos.chargedUnits(), operations()]
    fixture.server.clearRequests()
    const messages = await work()
    return {
      requestUnits: (fixture.cosmos.chargedUnits() - unitsBefore) / count,
      operations: (operations() - operationsBefore) / count,
      messages: messages / count,
      calls: fixture.server.requests().filter(({ path }) => path.startsWith('/v1.0/')).length / count,
    }
  }
  const deliverAll = async () => {
    // And the message of the sweep itself.
    const messages = fixture.sentMessages.length + 1
    if (fixture.sentMessages.some(({ message }) => message.queue === 'evaluations')) await evaluator.evaluate(TENANT)
    while (await fixture.deliverNext(deps));
    return messages
  }
  const sweepHours = async (count: number, change: (hour: number) => Promise<void> = async () => undefined) => {
    const costs: SweepCost[] = []
    for (let hour = 0; hour < count; hour += 1) {
      await change(hour)
      await fixture.clock.sleep(HOUR_MS)
      costs.push(
        await costOf(1, async () => {
          await sweepTenant(TENANT, deps)
          return deliverAll()
        }),
      )
    }
    const mean = (name: keyof SweepCost) => costs.reduce((sum, cost) => sum + cost[name], 0) / count
    return {
      requestUnits: mean('requestUnits'),
      operations: mean('operations'),
      messages: mean('messages'),
      calls: mean('calls'),
    }
  }
  const changeMembers = async (hour: number) => {
    for (let change = 0; change < CHANGES_PER_HOUR_COUNT; change += 1) {
      await fixture.clock.sleep(HOUR_MS / (CHANGES_PER_HOUR_COUNT + 1))
      const number = hour * CHANGES_PER_HOUR_COUNT + change
      const [directoryObjectId = ''] = users(MEMBERS_COUNT + number, 1)
      const guest = { displayName: `Guest ${number % CHANGING_COUNT}`, directoryObjectId }
      await fixture.write(source, identity(`guest ${number}`, guest))
      await evaluator.evaluate(TENANT)
      await deliverAll()
    }
  }
  const evaluationBy = (instance: Pick<Service, 'evaluator'>) =>
    costOf(1, async () => {
      await instance.evaluator.evaluate(TENANT)
      return 0
    })
  const first = await sweepHours(FIRST_HOURS_COUNT)
  const startMs = performance.now()
  const hourly = await sweepHours(hoursCount)
  const seconds = (performance.now() - startMs) / 1000
  const succeeded = (await deps.links.ofTenant(TENANT)).filter(({ value }) => value.lastSyncOutcome === 'Succeeded')
  process.stdout.write(
    `${succeeded.length} of ${linkCount} links Succeeded; ${hoursCount} sweeps in ${seconds.toFixed(1)} s\n`,
  )
  if (succeeded.length < linkCount) process.exitCode = 1
  const afterChanges = await sweepHours(hoursCount, changeMembers)
  await evaluator.evaluate(TENANT)
  await fixture.clock.sleep(HOUR_MS)
  const evaluation = await evaluationBy({ evaluator })
  await fixture.clock.sleep(HOUR_MS)
  const cold = newInstance()
  await cold.collections.snapshots.fresh(TENANT)
  const coldEvaluation = await evaluationBy(cold)
  await fixture.close()
  return { first, hourly, afterChanges, evaluation, coldEvaluation }
}
