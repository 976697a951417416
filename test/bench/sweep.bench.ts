import { newLink } from '../../shared/domain/group-links/group-link.ts'
import { enqueueSweeps } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { TENANT, users } from '../jobs/link-directory.ts'
import { openWorld } from '../jobs/link-world.ts'

/** A sweep of 1,000 links with nothing changed: how long it takes and what each link costs. */
const LINKS_COUNT = 1_000
const MEMBERS_COUNT = 20
const SECONDS_AT_MOST = 120

/** Messages that one instance works on at a time. */
const CONCURRENT_COUNT = 16

const world = await openWorld()
const counts = new Map<string, number>()

/** A store that counts its calls: each is one operation of the database. */
const counted = <T extends object>(store: T, name: string): T =>
  new Proxy(store, {
    get(object, member, receiver) {
      const method: unknown = Reflect.get(object, member, receiver)
      if (typeof method !== 'function') return method
      return (...given: unknown[]) => {
        const key = `${name}.${String(member)}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
        return method.apply(object, given)
      }
    },
  })

await world.deps.tenants.register(TENANT)
for (let count = 0; count < LINKS_COUNT; count += 1) {
  const accounts = users(count, MEMBERS_COUNT)
  const collectionId = world.collections.make(accounts)
  const directoryGroupId = await world.newGroup({}, accounts)
  const id = world.deps.newId()
  const link = newLink(
    { id, tenantId: TENANT, collectionId, directoryGroupId, directoryGroupDisplayName: 'A group' },
    0,
  )
  await world.deps.links.add({ ...link, appliedMembershipVersion: 1 })
}
const deps = {
  ...world.deps,
  links: counted(world.deps.links, 'links'),
  jobs: counted(world.deps.jobs, 'jobs'),
  tenants: counted(world.deps.tenants, 'tenants'),
  budget: counted(world.deps.budget, 'budget'),
} satisfies SyncDependencies

world.server.clearRequests()
const startMs = performance.now()
await enqueueSweeps(undefined, deps)
const worker = async () => {
  while (await world.deliverNext(deps));
}
await Promise.all(Array.from({ length: CONCURRENT_COUNT }, worker))
const seconds = (performance.now() - startMs) / 1000
const links = await world.deps.links.ofTenant(TENANT)
const succeededCount = links.filter(({ value }) => value.lastSyncOutcome === 'Succeeded').length
const operationCount = [...counts.values()].reduce((sum, count) => sum + count, 0)
const perLink = (count: number) => (count / LINKS_COUNT).toFixed(2)
process.stdout.write(
  `${succeededCount} of ${LINKS_COUNT} links Succeeded in ${seconds.toFixed(1)} s (at most ${SECONDS_AT_MOST} s)\n` +
    `Store operations per link: ${perLink(operationCount)}\n` +
    [...counts].map(([name, count]) => `  ${name}: ${perLink(count)}\n`).join('') +
    `Directory calls per link: ${perLink(world.server.requests().length)}\n`,
)
await world.close()
process.exitCode = succeededCount === LINKS_COUNT && seconds < SECONDS_AT_MOST ? 0 : 1
