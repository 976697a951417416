import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { buildService, Overrides } from '../../../functions/app/service.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { faultLog } from '../api/built-service.ts'
import { APP_SETTINGS } from '../architecture/settings-to-load.ts'
import type { Release } from '../jobs/several-instances.ts'
import { previousReleaseFolder } from './release-folder.ts'

/** The previous release, from its sources in a folder of its own. `remove` deletes the folder. */
export async function openPreviousRelease(): Promise<{ readonly release: Release; remove(): void }> {
  const { folder, remove } = previousReleaseFolder()
  const load = <Module>(path: string): Promise<Module> => import(pathToFileURL(join(folder, path)).href)
  const domain = 'shared/domain'
  const [app, settings, writing, members, sweeping, graph] = await Promise.all([
    load<{ buildService: typeof buildService }>('functions/app/service.ts'),
    load<{ readSettings: (environment: typeof APP_SETTINGS) => Settings }>('shared/settings/settings.ts'),
    load<Pick<Release, 'writeObjects'>>(`${domain}/connectors/write-objects.ts`),
    load<Pick<Release, 'addMembersDirectly' | 'removeMembersDirectly'>>(
      `${domain}/membership-requests/direct-members.ts`,
    ),
    load<Pick<Release, 'sweepTenant'>>(`${domain}/sync/sweep.ts`),
    load<Pick<Release, 'graphDirectory'>>('shared/graph/graph-directory.ts'),
  ])
  const read = settings.readSettings(APP_SETTINGS)
  const { writeObjects } = writing
  const { addMembersDirectly, removeMembersDirectly } = members
  const { sweepTenant } = sweeping
  const { graphDirectory } = graph
  const build: Release['build'] = (_fixture, overrides) => {
    const unlimited = { evaluationDelayMs: 0, requestsPerCallerPerMinute: 0, ...UNLIMITED_WRITES }
    const { messageQueue } = overrides
    const parts: Overrides = {
      log: faultLog(),
      ...overrides,
      ...(messageQueue && {
        messageQueue: { enqueue: (message, options) => messageQueue.enqueue(renamed(message), options) },
      }),
    }
    const service = app.buildService({ ...read, ...unlimited }, parts)
    const messages = Object.entries(service.messages).map(([queue, handler]) => [RENAMED[queue] ?? queue, handler])
    return { ...service, messages: Object.fromEntries(messages) }
  }
  return {
    release: { writeObjects, addMembersDirectly, removeMembersDirectly, sweepTenant, graphDirectory, build },
    remove,
  }
}

/** Queues that have another name since the previous release. Each version receives the messages of its own. */
const RENAMED: Readonly<Record<string, string>> = { 'tenant-evaluations': 'evaluations' }

const renamed = (message: Message): Message =>
  ({ ...message, queue: RENAMED[message.queue] ?? message.queue }) as Message

const UNLIMITED_WRITES = {
  directoryWritesPerTenant: 1_000_000,
  directoryWritesTotal: 1_000_000,
  directoryWritesInAll: 1_000_000,
}
