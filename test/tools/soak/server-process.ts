/** Runs one local server in a process of its own: `database`, `queue` or `directory`. */

import { type LocalCosmos, startCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'
import { createContainers } from '../../../infra/local/cosmos/local-account.ts'
import {
  type DirectoryOptions,
  type LocalDirectory,
  startDirectory,
} from '../../../infra/local/directory/directory-server.ts'
import type { FaultDefinition } from '../../../infra/local/directory/faults.ts'
import { type LocalServiceBus, startServiceBus } from '../../../infra/local/service-bus/broker.ts'
import { QUEUES } from '../../../shared/messaging/queues.ts'
import { type CommandHandlers, serveCommands } from './commands.ts'

export type DatabaseStart = { readonly port: number; readonly file: string; readonly key: string }
export type QueueStart = { readonly port: number; readonly file: string }
export type DirectoryStart = Pick<DirectoryOptions, 'port' | 'httpPort' | 'folder' | 'seed'>
export type DirectoryStarted = { readonly url: string; readonly signInUrl: string; readonly caPem: string }

/** Messages of all queues by state. */
export type WaitingMessages = {
  active: number
  scheduled: number
  locked: number
  deadLettered: number
  /** Accepted messages since the start of the process. */
  sent: number
}

function database(): CommandHandlers {
  let cosmos: LocalCosmos
  return {
    async start(options: DatabaseStart) {
      cosmos = await startCosmos({ ...options, strict: true })
      await createContainers(cosmos.endpoint, cosmos.key)
      return cosmos.endpoint
    },
    sizes: () => cosmos.sizes(),
    close: () => cosmos.close(),
  }
}

function queue(): CommandHandlers {
  let bus: LocalServiceBus
  const counts = (): WaitingMessages => {
    const total = { active: 0, scheduled: 0, locked: 0, deadLettered: 0, sent: 0 }
    for (const { name } of QUEUES) {
      const { active, scheduled, locked, deadLettered } = bus.counts(name)
      total.active += active
      // The daily audits are spread over the day: they are left to come due.
      if (name !== 'audits') total.scheduled += scheduled
      total.locked += locked
      total.deadLettered += deadLettered
    }
    total.sent = Object.values(bus.sent()).reduce((sum, count) => sum + count, 0)
    return total
  }
  return {
    async start(options: QueueStart) {
      bus = await startServiceBus({ ...options, queues: QUEUES })
      return bus.connectionString
    },
    counts,
    countsByQueue: () => Object.fromEntries(QUEUES.map(({ name }) => [name, bus.counts(name)])),
    processDue: () => bus.advance(0),
    loseNextMessage: (name: string) => bus.faults.loseNextMessage(name),
    deliverNextMessageTwice: (name: string) => bus.faults.deliverNextMessageTwice(name),
    clearFaults: () => bus.faults.clear(),
    close: () => bus.close(),
  }
}

function directory(): CommandHandlers {
  let local: LocalDirectory
  return {
    async start(options: DirectoryStart): Promise<DirectoryStarted> {
      local = await startDirectory({ ...options, apiUrl: 'http://localhost' })
      return { url: local.url, signInUrl: local.signInUrl, caPem: local.caPem }
    },
    setFaults: (faults: readonly FaultDefinition[]) => local.setFaults(faults),
    membershipChanges: (after: number) => local.membershipChanges(after),
    requestCount: () => local.requests().length,
    close: () => local.close(),
  }
}

const SERVERS: Readonly<Record<string, () => CommandHandlers>> = { database, queue, directory }
const handlers = SERVERS[process.argv[2] ?? '']?.() ?? {}
serveCommands(handlers)
// A terminal signals all its processes. The parent process decides when this one stops.
process.on('SIGINT', () => undefined)
