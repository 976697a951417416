import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { seededRandom } from '../../../infra/local/demo/seeded-random.ts'
import { previousReleaseFolder } from '../../support/releases/release-folder.ts'
import { actionsOn } from './actions.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { Clocks } from './clocks.ts'
import { EventReceiver } from './event-receiver.ts'
import { FaultInjection } from './fault-injection.ts'
import { type AppFolderOf, type Host, startHosts } from './hosts.ts'
import { buildOrganisation, newOrganisation } from './new-organisation.ts'
import { countOutcome } from './organisation.ts'
import { type QuietPointDependencies, quietPoint } from './quiet-point.ts'
import { ResourceWatch } from './resource-watch.ts'
import { startServers } from './servers.ts'
import { soakTenant } from './soak-tenant.ts'
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
  /** Whether the database is sometimes restored to the last quiet point. */
  readonly restores: boolean
  /** Whether the previous release runs beside this one, and in turn with it. */
  readonly rollsBack: boolean
  /** Receives a line for the user. */
  readonly say: (line: string) => void
}

export type SoakReport = {
  readonly faults: readonly string[]
  readonly quietPointCount: number
  readonly killCount: number
}

/** Of the evaluation of a tenant, with a margin. */
const LONGEST_LEASE_MS = 65_000
const PROGRESS_INTERVAL_MS = 10_000
const FAULTS_SHOWN = 30

/**
 * Runs the whole service under faults, and compares it with the model at each quiet point. Stops at the first
 * difference.
 */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  mkdirSync(options.folder, { recursive: true })
  const clocks = new Clocks()
  const tenant = soakTenant(options.seed, options.personCount, options.collectionCount)
  const servers = await startServers(options.folder, tenant.seed, clocks)
  const receiver = await EventReceiver.start(seededRandom(options.seed, 'receiver'))
  const previous = options.rollsBack ? previousReleaseFolder() : undefined
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
      appFolderOf: releases(previous?.folder, options.instanceCount),
    })
    const organisation = await newOrganisation(options, tenant, servers, hosts, { clocks, receiver })
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
    receiver.close()
    await servers.close()
    previous?.remove()
  }
}

/**
 * The first instance runs this version all along, and the last of several the previous one. Each start of the others is
 * an upgrade or a rollback.
 */
function releases(previousFolder: string | undefined, instanceCount: number): AppFolderOf {
  return (index, startCount) => {
    const isPrevious = index > 0 && (index === instanceCount - 1 || startCount % 2 === 0)
    return isPrevious ? previousFolder : undefined
  }
}

/** With restores, one of three quiet points follows a restore to the one before. */
const RESTORED_EACH_COUNT = 3

const HOST_SETTINGS = {
  API_SCOPE: 'user_impersonation',
  REQUESTS_PER_CALLER_PER_MINUTE: '0',
  LOG_LEVEL: 'info',
  EVENT_TARGETS: 'http://127.0.0.1',
  PUBLIC_URL: 'https://collections.soak.example',
  EVALUATION_DELAY_MS: '200',
  SYNC_RETRY_DELAYS_S: '2,5,10',
  SYNC_BATCH_S: '20',
  SYNC_LEASE_S: '20',
}

async function runPhases(options: SoakOptions, parts: QuietPointDependencies): Promise<SoakReport> {
  const { organisation, servers, hosts } = parts
  const { seed, phase, say } = options
  const startMs = performance.now()
  const elapsedMs = () => performance.now() - startMs
  await buildOrganisation(organisation, options)
  const faultInjection = new FaultInjection(servers, hosts, seededRandom(seed, 'faults'), {
    intervalMs: options.faultIntervalMs,
    longestMs: Math.min(6000, phase.leastDurationMs / 4),
    longStopMs: options.hasLongStops ? LONGEST_LEASE_MS + options.clocksApartMs : 0,
  })
  const workers = new Workers(actionsOn(organisation), options)
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
      const isUndone = options.restores && quietPointCount % RESTORED_EACH_COUNT === 1
      const checkpoint = isUndone ? await takeCheckpoint(parts) : undefined
      workers.resume()
      faultInjection.resume()
      const killCount = faultInjection.killCount + phase.leastKills
      const endMs = elapsedMs() + phase.leastDurationMs
      await workers.untilFailureOr(() => elapsedMs() >= endMs && faultInjection.killCount >= killCount)
      await faultInjection.pause()
      faults.push(...(await workers.pause()))
      // After a failed action, the model does not know what happened.
      if (faults.length > 0) break
      if (checkpoint !== undefined) {
        await checkpoint.restore()
        resources.forgetInstances()
        countOutcome(organisation, 'database restored')
      }
      faults.push(...(await quietPoint(parts)))
      quietPointCount += 1
      await resources.sample(elapsedMs(), organisation.model.people.deliveredKeys.size)
    }
  } catch (error) {
    faults.push((error as Error).stack ?? String(error))
  } finally {
    clearInterval(progress)
  }
  faults.push(...hosts.flatMap(({ crashes }) => crashes), ...resources.growth())
  say(`Outcomes: ${JSON.stringify(Object.fromEntries([...organisation.outcomeCounts].sort()))}`)
  say(`Requests by status: ${JSON.stringify(Object.fromEntries(organisation.api.statusCounts))}`)
  say(`Faults injected: ${JSON.stringify(Object.fromEntries(faultInjection.counts))}`)
  const { receiver, mails } = organisation
  say(`Events: ${receiver.events.size} in ${receiver.deliveryCount} deliveries; mails: ${mails.size}`)
  for (const line of resources.report()) say(line)
  for (const fault of faults.slice(0, FAULTS_SHOWN)) say(`FAULT ${fault}`)
  return { faults, quietPointCount, killCount: faultInjection.killCount }
}

export const soakFolder = (folder: string, seed: number): string => join(folder, `seed-${seed}`)
