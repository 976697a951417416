import { seededRandom } from '../../../infra/local/demo/seeded-random.ts'
import { ApiCalls } from './api-calls.ts'
import { soakCallers } from './callers.ts'
import type { Clocks } from './clocks.ts'
import { createCriteriaCollection, createLink } from './collection-actions.ts'
import { dayIn } from './day-model.ts'
import { subscribe } from './event-actions.ts'
import type { EventReceiver } from './event-receiver.ts'
import { GroupWatch } from './group-watch.ts'
import type { Host } from './hosts.ts'
import { ActionLocks } from './locks.ts'
import { CONNECTORS_PATH, expectStatus, LINKS_PATH, type Organisation } from './organisation.ts'
import { OrganisationModel } from './organisation-model.ts'
import { importEveryone } from './people-actions.ts'
import { createJoinableCollection, replacePolicy } from './policy-actions.ts'
import { RecentChanges } from './recent-changes.ts'
import { OPERATORS } from './sent-mails.ts'
import type { RunningServers } from './servers.ts'
import type { SoakTenant } from './soak-tenant.ts'
import { SourceNames } from './source-names.ts'
import { InstanceTimes } from './times.ts'

/** An empty tenant with four connectors, and the model of it. The removal guard is off. */
export async function newOrganisation(
  {
    seed,
    personCount,
    clocksApartMs,
    rollsBack,
  }: Pick<Organisation, 'personCount' | 'rollsBack'> & { readonly seed: number; readonly clocksApartMs: number },
  tenant: SoakTenant,
  servers: RunningServers,
  hosts: readonly Host[],
  { clocks, receiver }: { readonly clocks: Clocks; readonly receiver: EventReceiver },
): Promise<Organisation> {
  const api = new ApiCalls(hosts, seededRandom(seed, 'instances'))
  const callers = await soakCallers(tenant, servers.directory)
  const model = new OrganisationModel()
  const times = new InstanceTimes(clocks, clocksApartMs)
  model.today = dayIn(model.timeZone, times.now().latestMs)
  const connector = async (name: string) => {
    const body = { name, clientId: tenant.connectorClientId, softDeletionDays: 3650 }
    const options = { token: callers.operator, method: 'POST', path: CONNECTORS_PATH, body, idempotencyKey: name }
    return (await expectStatus<string>({ api }, options, 201)).data
  }
  const connectorIds = {
    hr: await connector('hr'),
    accounts: await connector('accounts'),
    payroll: await connector('payroll'),
    cards: await connector('cards'),
  }
  const guardOff = { removalGuard: { enabled: false }, operators: OPERATORS }
  const settings = { token: callers.administrator, method: 'PATCH', path: `${LINKS_PATH}/settings`, body: guardOff }
  await expectStatus({ api }, settings, 200)
  let lastNumber = 0
  return {
    tenant,
    directoryUrl: servers.directory.url,
    callers,
    api,
    model,
    watch: new GroupWatch(model, tenant.serviceClientId),
    locks: new ActionLocks(),
    recentChanges: new RecentChanges(),
    names: new SourceNames(),
    times,
    personCount,
    rollsBack,
    unitCount: Math.max(4, Math.floor(personCount / 15)),
    connectorIds,
    changedNins: new Set(),
    pendingChanges: new Set(),
    coreIds: new Map(),
    numbersByCoreId: new Map(),
    positionNames: new Map(),
    formerCoreIds: new Map(),
    erasedNins: new Set(),
    formerCollectionIds: new Set(),
    receiver,
    mails: new Map(),
    undoneUntilMs: 0,
    subscriptionId: await subscribe({ api, callers, receiver }),
    outcomeCounts: new Map(),
    unique(kind) {
      lastNumber += 1
      return `${kind} ${lastNumber}`
    },
  }
}

/** Imports everyone and creates collections and links. */
export async function buildOrganisation(
  organisation: Organisation,
  { seed, collectionCount }: { readonly seed: number; readonly collectionCount: number },
): Promise<void> {
  const random = seededRandom(seed, 'build')
  await importEveryone(organisation, random)
  for (let index = 0; index < Math.ceil(collectionCount / 3); index += 1) {
    await createJoinableCollection(organisation, random)
  }
  for (let index = 0; index < collectionCount; index += 1) await createCriteriaCollection(organisation, random)
  // The first policies could not name criteria collections.
  for (const id of organisation.model.joinable.keys()) await replacePolicy(organisation, id, random)
  for (let index = 0; index < collectionCount; index += 1) await createLink(organisation, random)
}
