import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { seededRandom } from '../../infra/local/demo/seeded-random.ts'
import { ApiCalls } from './api-calls.ts'
import { soakCallers } from './callers.ts'
import { Clocks } from './clocks.ts'
import {
  approveRemovals,
  changeLink,
  createCriteriaCollection,
  createLink,
  editCondition,
  replaceCriteriaCollection,
  switchGuard,
} from './collection-actions.ts'
import { editGroupByHand } from './directory-actions.ts'
import { FaultInjection } from './fault-injection.ts'
import { GroupWatch } from './group-watch.ts'
import { type Host, startHosts } from './hosts.ts'
import { ActionLocks } from './locks.ts'
import { CONNECTORS_PATH, expectStatus, LINKS_PATH, type Organisation } from './organisation.ts'
import { OrganisationModel } from './organisation-model.ts'
import { changePayroll, changePeople, changeUnit, importEveryone } from './people-actions.ts'
import { type QuietPointDependencies, quietPoint } from './quiet-point.ts'
import { actOnMembership, createJoinableCollection, editPolicy } from './request-actions.ts'
import { ResourceWatch } from './resource-watch.ts'
import { type RunningServers, startServers } from './servers.ts'
import { soakTenant } from './tenant.ts'
import { Workers } from './workers.ts'

export type SoakOptions = {
  /** The run ends with the first quiet point after this many quiet points and this time. */
  readonly leastQuietPoints: number
  readonly leastDurationMs: number
  /** Between two quiet points, at least this time passes, with at least this many kills. */
  readonly phase: { readonly leastDurationMs: number; readonly leastKills: number }
  readonly instanceCount: number
  readonly seed: number
  /** Empty folder of the data and the logs. */
  readonly folder: string
  readonly personCount: number
  readonly collectionCount: number
  readonly workerCount: number
  readonly faultIntervalMs: number
  readonly clocksApartMs: number
  /** Whether instances sometimes stop for longer than their leases last. */
  readonly hasLongStops: boolean
  /** Receives a line for the user. */
  readonly say: (line: string) => void
}

export type SoakReport = {
  readonly faults: readonly string[]
  readonly quietPointCount: number
  readonly killCount: number
  readonly requestCount: number
  readonly actionCount: number
}

/** Of the evaluation of a tenant, with a margin. */
const LONGEST_LEASE_MS = 65_000
const PROGRESS_INTERVAL_MS = 10_000
const FAULTS_SHOWN = 30

/** Runs the whole service under faults, and compares it with the model at each quiet point. Stops at the first difference. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  mkdirSync(options.folder, { recursive: true })
  const clocks = new Clocks()
  const tenant = soakTenant(options.seed, options.personCount, options.collectionCount)
  const servers = await startServers(options.folder, tenant.seed, clocks)
  let hosts: readonly Host[] = []
  try {
    setDefaultCACertificates([...getCACertificates('default'), servers.directory.caPem])
    hosts = await startHosts(servers, {
      count: options.instanceCount,
      folder: options.folder,
      settings: {
        ...HOST_SETTINGS,
        ...tenant.settings,
        CLOCK_DIFFERENCE_S: String(Math.ceil(options.clocksApartMs / 1000)),
      },
      clocks,
      clocksApartMs: options.clocksApartMs,
    })
    const organisation = await newOrganisation(options, tenant, servers, hosts)
    return await runPhases(options, {
      organisation,
      servers,
      hosts,
      clocks,
      clocksApartMs: options.clocksApartMs,
      formerMembers: new Map(),
    })
  } finally {
    await Promise.all(hosts.map((host) => host.close()))
    await servers.close()
  }
}

const HOST_SETTINGS = {
  API_SCOPE: 'user_impersonation',
  REQUESTS_PER_CALLER_PER_MINUTE: '0',
  LOG_LEVEL: 'info',
  EVALUATION_DELAY_MS: '200',
  SYNC_RETRY_DELAYS_S: '2,5,10',
  SYNC_SLICE_S: '20',
  SYNC_LEASE_S: '20',
}

async function newOrganisation(
  options: SoakOptions,
  tenant: ReturnType<typeof soakTenant>,
  servers: RunningServers,
  hosts: readonly Host[],
): Promise<Organisation> {
  const { seed, personCount } = options
  const api = new ApiCalls(hosts, seededRandom(seed, 'instances'))
  const callers = await soakCallers(tenant, servers.directory)
  const model = new OrganisationModel()
  const connector = async (name: string) => {
    const body = { name, clientId: tenant.connectorClientId }
    const options = { token: callers.operator, method: 'POST', path: CONNECTORS_PATH, body, idempotencyKey: name }
    return (await expectStatus<string>({ api }, options, 201)).data
  }
  const connectorIds = {
    hr: await connector('hr'),
    accounts: await connector('accounts'),
    payroll: await connector('payroll'),
  }
  const guardOff = { removalGuard: { enabled: false } }
  const settings = { token: callers.administrator, method: 'PATCH', path: `${LINKS_PATH}/settings`, body: guardOff }
  await expectStatus({ api }, settings, 200)
  let lastNumber = 0
  return {
    tenant,
    callers,
    api,
    model,
    watch: new GroupWatch(model, tenant.serviceClientId),
    locks: new ActionLocks(),
    personCount,
    unitCount: Math.max(4, Math.floor(personCount / 15)),
    connectorIds,
    changedNins: new Set(),
    coreIds: new Map(),
    formerCoreIds: new Map(),
    unique(kind) {
      lastNumber += 1
      return `${kind} ${lastNumber}`
    },
  }
}

async function runPhases(options: SoakOptions, parts: QuietPointDependencies): Promise<SoakReport> {
  const { organisation, servers, hosts } = parts
  const { seed, phase, say } = options
  const startMs = performance.now()
  const elapsedMs = () => performance.now() - startMs
  await build(organisation, options)
  const faultInjection = new FaultInjection(servers, hosts, seededRandom(seed, 'faults'), {
    intervalMs: options.faultIntervalMs,
    longestMs: Math.min(6000, phase.leastDurationMs / 4),
    longStopMs: options.hasLongStops ? LONGEST_LEASE_MS + options.clocksApartMs : 0,
    isFirstHostSpared: true,
  })
  const workers = new Workers(actionsOn(organisation, servers.directory.url), options)
  const resources = new ResourceWatch(servers, hosts)
  let quietPointCount = 0
  const progress = setInterval(() => {
    const { requestCount, unansweredCount } = organisation.api
    say(
      `${(elapsedMs() / 1000).toFixed(0)} s: ${requestCount} requests (${unansweredCount} without an answer), ${workers.actionCount} actions, ` +
        `${faultInjection.killCount} kills, ${quietPointCount} quiet points, ${resources.summary()}`,
    )
  }, PROGRESS_INTERVAL_MS)
  const faults: string[] = []
  try {
    while (
      faults.length === 0 &&
      (quietPointCount < options.leastQuietPoints || elapsedMs() < options.leastDurationMs)
    ) {
      workers.resume()
      faultInjection.resume()
      const killCount = faultInjection.killCount + phase.leastKills
      const endMs = elapsedMs() + phase.leastDurationMs
      await workers.untilFailureOr(() => elapsedMs() >= endMs && faultInjection.killCount >= killCount)
      await faultInjection.pause()
      faults.push(...(await workers.pause()))
      faults.push(...(await quietPoint(parts)))
      quietPointCount += 1
      await resources.sample(elapsedMs())
    }
  } finally {
    clearInterval(progress)
  }
  faults.push(...resources.growth())
  say(`Requests by status: ${JSON.stringify(Object.fromEntries(organisation.api.statusCounts))}`)
  say(`Faults injected: ${JSON.stringify(Object.fromEntries(faultInjection.counts))}`)
  for (const line of resources.report()) say(line)
  for (const fault of faults.slice(0, FAULTS_SHOWN)) say(`FAULT ${fault}`)
  const { requestCount } = organisation.api
  return {
    faults,
    quietPointCount,
    killCount: faultInjection.killCount,
    requestCount,
    actionCount: workers.actionCount,
  }
}

/** Imports everyone and creates collections and links. */
async function build(organisation: Organisation, { seed, collectionCount }: SoakOptions): Promise<void> {
  const random = seededRandom(seed, 'build')
  await importEveryone(organisation, random)
  for (let index = 0; index < Math.ceil(collectionCount / 3); index += 1) {
    await createJoinableCollection(organisation, random)
  }
  for (let index = 0; index < collectionCount; index += 1) await createCriteriaCollection(organisation, random)
  for (let index = 0; index < collectionCount; index += 1) await createLink(organisation, random)
}

function actionsOn(organisation: Organisation, directoryUrl: string) {
  return [
    { weight: 40, run: changePeople },
    { weight: 30, run: actOnMembership },
    { weight: 6, run: changePayroll },
    { weight: 2, run: changeUnit },
    { weight: 2, run: replaceCriteriaCollection },
    { weight: 1, run: switchGuard },
    { weight: 2, run: approveRemovals },
    { weight: 4, run: editCondition },
    { weight: 2, run: editPolicy },
    { weight: 3, run: changeLink },
    { weight: 2, run: createLink },
    { weight: 4, run: editGroupByHand },
  ].map(({ weight, run }) => ({
    weight,
    run: (random: ReturnType<typeof seededRandom>) =>
      run === editGroupByHand
        ? editGroupByHand(organisation, directoryUrl, random)
        : (run as typeof editPolicy)(organisation, random),
  }))
}

export const soakFolder = (folder: string, seed: number): string => join(folder, `seed-${seed}`)
