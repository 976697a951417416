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
 * are in the group of a collection. Times are of the processor, with the database in the same process. Bars: an import costs
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
const tenantId = randomUUID()
const admin = user(tenantId, randomUUID(), 'Administrator')
const group = guardedGroup([], servers.clock.nowMs)

const asCaller = (caller: Caller): Send => sendTo([connectorRoutes(healthy.connectors)], caller, healthy.dispatch)

async function newConnector(name: string) {
  const clientId = randomUUID()
  const { body } = await asCaller(admin)('POST', CONNECTORS, { name, clientId })
  const send = asCaller(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
  return (items: readonly unknown[]) => send('POST', `${CONNECTORS}/${body.data}/data/batch`, { items })
}

/** Sends the items in batches. @returns Seconds of the processor, without those of the evaluations between them. */
async function imported(send: Awaited<ReturnType<typeof newConnector>>, items: readonly unknown[]): Promise<number> {
  let computedS = 0
  for (let start = 0; start < items.length; start += BATCH_COUNT) {
    const before = process.cpuUsage()
    const { status, body } = await send(items.slice(start, start + BATCH_COUNT))
    const { user, system } = process.cpuUsage(before)
    computedS += (user + system) / 1e6
    if (status !== 200 || body.data.some((result: { status: number }) => result.status >= 300)) {
      throw new Error(`A batch was answered ${status}: ${JSON.stringify(body).slice(0, 500)}`)
    }
    if ((start / BATCH_COUNT) % BATCHES_BETWEEN_EVALUATIONS_COUNT === 0) await servers.follow(tenantId)
  }
  await servers.follow(tenantId)
  return computedS
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

async function linkEverybody(): Promise<void> {
  const { connectors, requests, links } = healthy
  const ids = await connectors.coreObjects.liveIds(tenantId, undefined, PEOPLE_COUNT)
  const body = { objectType: 'Identity', name: 'Staff', joinPolicy: { approvalRequired: false } } as const
  const { id } = await createJoinableCollection(body, admin as never, requests)
  const actor = { id: admin.objectId, identityId: undefined }
  for (let start = 0; start < PEOPLE_COUNT; start += BATCH_COUNT) {
    await addMembersDirectly(tenantId, id, { coreIdentityIds: ids.slice(start, start + BATCH_COUNT) }, actor, requests)
  }
  const groupId = randomUUID()
  servers.groups.set(groupId, group)
  await createLink(tenantId, { collectionId: id, directoryGroupId: groupId }, links)
  await servers.follow(tenantId)
}

const hr = await newConnector('HR')
const directory = await newConnector('Directory')
await imported(hr, numbers.map(person('a')))
await imported(
  directory,
  numbers.map((number) =>
    upsert('identity', `d${number}`, { nin: ninOf(number), directoryObjectId: accountOf(number) }),
  ),
)
await linkEverybody()
report(`${PEOPLE_COUNT} people, ${group.group.size} accounts in the group`)
await imported(hr, numbers.slice(0, BATCH_COUNT).map(person('a')))
const unchangedS = await imported(hr, numbers.map(person('a')))
report(`unchanged: ${unchangedS.toFixed(1)} s of the processor`)
for (const [name, items] of [
  ['renamed', numbers.map((number) => ({ ...person('b')(number), previousExternalId: `a${number}` }))],
  [
    're-keyed, the former deleted first',
    numbers.flatMap((number) => [remove('identity', `b${number}`), person('c')(number)]),
  ],
  [
    're-keyed, the former deleted last',
    numbers.flatMap((number) => [person('d')(number), remove('identity', `c${number}`)]),
  ],
] as const) {
  const tookS = await imported(hr, items)
  const ratio = tookS / unchangedS
  const isMet = ratio <= MAX_RATIO && group.losses.length === 0
  if (!isMet) process.exitCode = 1
  report(
    `${name}: ${tookS.toFixed(1)} s, ${ratio.toFixed(1)} times the unchanged import (bar ${MAX_RATIO}), ` +
      `${group.losses.length} accounts removed from the group (bar 0)${isMet ? '' : ': MISSED'}`,
  )
}
await servers.account.cosmos.close()
