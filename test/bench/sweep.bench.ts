import { randomUUID } from 'node:crypto'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { identity, openAccountWorld } from '../jobs/account-world.ts'
import { TENANT, users } from '../jobs/link-directory.ts'

/** What hourly sweeps of unchanged links cost on average over a week: each link is compared in full once. */
const HOURS_COUNT = 168
const MEMBERS_COUNT = 20
const HOUR_MS = 3_600_000

type Cost = {
  readonly requestUnits: number
  readonly operations: number
  readonly messages: number
  readonly calls: number
}

/** What an hourly sweep of so many unchanged links may cost. */
const LIMITS: Readonly<Record<number, Partial<Cost>>> = {
  50: { requestUnits: 30, operations: 12, messages: 2, calls: 2 },
  1000: { calls: 25 },
}

/** Until no link is due for a comparison because it is new to the sweeps. */
const FIRST_HOURS_COUNT = 3

async function measure(linkCount: number, hoursCount: number): Promise<{ first: Cost; hourly: Cost }> {
  const world = await openAccountWorld({ sharesClock: true, databaseSharesClock: true })
  const { links: deps, evaluator } = world.newService()
  const accounts = users(0, MEMBERS_COUNT)
  const source = await world.newSource()
  await world.write(
    source,
    ...accounts.map((account, index) => identity(`${index}`, { displayName: 'Member', directoryObjectId: account })),
  )
  const nowMs = world.clock.nowMs()
  for (let count = 0; count < linkCount; count += 1) {
    const collectionId = await world.criteria('Identity', 'identityDisplayName', 'Member')
    const directoryGroupId = await world.newGroup({}, accounts)
    const ids = {
      id: randomUUID(),
      tenantId: TENANT,
      collectionId,
      directoryGroupId,
      collectionKind: 'criteria' as const,
    }
    await deps.links.add({
      ...newLink({ ...ids, directoryGroupDisplayName: 'A group' }, nowMs),
      appliedMembershipVersion: 1,
    })
  }
  await evaluator.evaluate(TENANT)
  world.sentMessages.length = 0

  let messages = 0
  const sweepHours = async (count: number): Promise<Cost> => {
    const operations = () => Object.values(world.cosmos.operations()).reduce((sum, one) => sum + one, 0)
    const [unitsBefore, operationsBefore] = [world.cosmos.chargedUnits(), operations()]
    messages = 0
    world.server.clearRequests()
    for (let hour = 0; hour < count; hour += 1) {
      await world.clock.sleep(HOUR_MS)
      // The message of the sweep itself.
      messages += 1
      await sweepTenant(TENANT, deps)
      messages += world.sentMessages.length
      while (await world.deliverNext(deps));
    }
    return {
      requestUnits: (world.cosmos.chargedUnits() - unitsBefore) / count,
      operations: (operations() - operationsBefore) / count,
      messages: messages / count,
      calls: world.server.requests().filter(({ path }) => path.startsWith('/v1.0/')).length / count,
    }
  }
  const first = await sweepHours(FIRST_HOURS_COUNT)
  const startMs = performance.now()
  const hourly = await sweepHours(hoursCount)
  const seconds = (performance.now() - startMs) / 1000
  const succeeded = (await deps.links.ofTenant(TENANT)).filter(({ value }) => value.lastSyncOutcome === 'Succeeded')
  process.stdout.write(
    `${succeeded.length} of ${linkCount} links Succeeded; ${hoursCount} sweeps in ${seconds.toFixed(1)} s\n`,
  )
  if (succeeded.length < linkCount) process.exitCode = 1
  await world.close()
  return { first, hourly }
}

const figures = ({ requestUnits, operations, messages, calls }: Cost): string =>
  `${requestUnits.toFixed(1)} RU, ${operations.toFixed(1)} store operations, ${messages.toFixed(2)} messages, ` +
  `${calls.toFixed(2)} directory calls`

for (const [linkCount, hoursCount] of [
  [50, HOURS_COUNT],
  [1_000, 24],
] as const) {
  const { first, hourly } = await measure(linkCount, hoursCount)
  const limits = LIMITS[linkCount] ?? {}
  process.stdout.write(
    `Hourly sweep of ${linkCount} links that are compared: ${figures(first)}\n` +
      `Hourly sweep of ${linkCount} unchanged links, weekly comparisons included: ${figures(hourly)} ` +
      `(at most ${JSON.stringify(limits)})\n`,
  )
  for (const [name, limit] of Object.entries(limits)) if (hourly[name as keyof Cost] > limit) process.exitCode = 1
}
