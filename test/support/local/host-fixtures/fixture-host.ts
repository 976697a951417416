import { join } from 'node:path'
import { type HostOptions, type LocalHost, startHost } from '../../../../infra/local/host/host.ts'
import type { HostLogEntry } from '../../../../infra/local/host/programming-model.ts'
import { type FakeBus, fakeBus } from './fake-bus.ts'

export const FIXTURES = import.meta.dirname

export type FixtureHost = LocalHost & { readonly bus: FakeBus; readonly log: HostLogEntry[] }

/** The fixture app on a free port with a fake namespace. */
export async function startFixtureHost(options: Partial<HostOptions> = {}): Promise<FixtureHost> {
  const bus = fakeBus()
  const log: HostLogEntry[] = []
  const host = await startHost({
    appFolder: join(FIXTURES, 'app'),
    port: 0,
    settings: { BUS: 'Endpoint=sb://nowhere' },
    log: (entry) => void log.push(entry),
    openBus: bus.openBus,
    ...options,
  })
  return { ...host, bus, log }
}
