import { randomUUID } from 'node:crypto'
import { connectorRoutes } from '../../../functions/routes/connectors.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { addMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import {
  application,
  CONNECTORS,
  remove,
  type Send,
  sendTo,
  upsert,
  user,
} from '../../support/api/core-data-service.ts'
import { guardedGroup } from '../../support/jobs/guarded-group.ts'
import { MergeServers } from '../../support/jobs/merge-servers.ts'

/**
 * Imports in which an HR system gives all its people other external ids, beside one that changes nothing, while the people
 * are in the group of a collection. Each is measured in a tenant of its own, since deleted records of former imports would
 * be read with it. Times are of the processor, with the database in the same process. Bars: an import costs
 * at most three times the unchanged one, and no account is removed from the group.
 * Usage: `npm run bench -- rekey [people]`.
 */
const PEOPLE_COUNT = Number(process.argv[2] ?? 20_000)
const BATCH_COUNT = 1000
const BATCHES_BETWEEN_EVALUATIONS_COUNT = 5
const MAX_RATIO = 3

const report = (text: string): void => void process.stdout.write(`${text}\n`)

const servers = await MergeServers.start()
const { healthy } = servers

type Imported = (items: readonly unknown[]) => Promise<number>

/** Imports into a connector in batches. @returns Seconds of the processor, without those of the evaluations between them. */
async function newImport(name: string, tenantId: string): Promise<Imported> {
  const clientId = randomUUID()
  const asCaller = (caller: Caller): Send => sendTo([connectorRoutes(healthy.connectors)], caller, healthy.dispatch)
  const admin = user(tenantId, randomUUID(), 'Administrator')
  const { body } = await asCaller(admin)('POST', CONNECTORS, { name, clientId })
  const send = asCaller(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
  return async (items) => {
    let computedS = 0
    for (let start = 0; start < items.length; start += BATCH_COUNT) {
      const before = process.cpuUsage()
      const batch = { items: items.slice(start, start + BATCH_COUNT) }
      const answer = await send('POST', `${CONNECTORS}/${body.data}/data/batch`, batch)
      const { user: userUs, system } = process.cpuUsage(before)
      computedS += (userUs + system) / 1e6
      if (answer.status !== 200 || answer.body.data.some((result: { status: number }) => result.status >= 300)) {
        throw new Error(`A batch was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`)
      }
      if ((start / BATCH_COUNT) % BATCHES_BETWEEN_EVALUATIONS_COUNT === 0) await servers.follow(tenantId)
    }
    await servers.follow(tenantId)
    return computedS
  }
}

const numbers = Array.from({ length: PEOPLE_COUNT }, (_, index) => index)
const ninOf = (number: number): string => String(10_000_000_000 + number)
const accountOf = (number: number): string => `0a0a0a0a-0000-4000-8000-${String(number).padStart(12, '0')}`
const person = (name: string) => (number: number) =>
  upsert('identity', `${name}${number}`, {
    displayName: `Person ${number}`,
    email: `person${number}@example.org`,
    nin: ninOf(number),
  })

/** Makes everybody a member of a collection with a group. */
async function linkEverybody(tenantId: string) {
  const { connectors, requests, links } = healthy
  const admin = user(tenantId, randomUUID(), 'Administrator')
  const ids = await connectors.coreObjects.liveIds(tenantId, undefined, PEOPLE_COUNT)
  const body = { objectType: 'Identity', name: 'Staff', joinPolicy: { approvalRequired: false } } as const
  const { id } = await createJoinableCollection(body, admin as never, requests)
  const actor = { id: admin.objectId, identityId: undefined }
  for (let start = 0; start < PEOPLE_COUNT; start += BATCH_COUNT) {
    await addMembersDirectly(tenantId, id, { coreIdentityIds: ids.slice(start, start + BATCH_COUNT) }, actor, requests)
  }
  const group = guardedGroup([], servers.clock.nowMs)
  const groupId = randomUUID()
  servers.groups.set(groupId, group)
  await createLink(tenantId, { collectionId: id, directoryGroupId: groupId }, links)
  await servers.follow(tenantId)
  return group
}

async function measure(name: string, items: readonly unknown[]): Promise<void> {
  const tenantId = randomUUID()
  const hr = await newImport('HR', tenantId)
  const directory = await newImport('Directory', tenantId)
  await hr(numbers.map(person('a')))
  await directory(
    numbers.map((number) =>
      upsert('identity', `d${number}`, { nin: ninOf(number), directoryObjectId: accountOf(number) }),
    ),
  )
  const group = await linkEverybody(tenantId)
  const accountCount = group.group.size
  await hr(numbers.slice(0, BATCH_COUNT).map(person('a')))
  const unchangedS = await hr(numbers.map(person('a')))
  const tookS = await hr(items)
  const ratio = tookS / unchangedS
  const isMet = ratio <= MAX_RATIO && group.losses.length === 0 && accountCount === PEOPLE_COUNT
  if (!isMet) process.exitCode = 1
  report(
    `${name}: ${tookS.toFixed(1)} s, ${ratio.toFixed(1)} times the unchanged import of ${unchangedS.toFixed(1)} s ` +
      `(bar ${MAX_RATIO}), ${group.losses.length} of ${accountCount} accounts removed from the group (bar 0)` +
      `${isMet ? '' : ': MISSED'}`,
  )
}

const renamed = (number: number) => ({ ...person('b')(number), previousExternalId: `a${number}` })
const deletedFirst = (number: number) => [remove('identity', `a${number}`), person('b')(number)]
const deletedLast = (number: number) => [person('b')(number), remove('identity', `a${number}`)]
await measure('renamed', numbers.map(renamed))
await measure('re-keyed, the former deleted first', numbers.flatMap(deletedFirst))
await measure('re-keyed, the former deleted last', numbers.flatMap(deletedLast))
await servers.account.cosmos.close()
