import { type FormerLink, formerLinkOf, succeeding } from '../../../shared/domain/group-links/former-link.ts'
import type { GroupLink } from '../../../shared/domain/group-links/group-link.ts'
import type { JobStore } from '../../../shared/domain/group-links/job-store.ts'
import {
  DEFAULT_LINK_SETTINGS,
  type LinkSettings,
  type LinkSettingsStore,
} from '../../../shared/domain/group-links/link-settings.ts'
import type { LinkLists, LinkStore } from '../../../shared/domain/group-links/link-store.ts'
import type { RemovalPlanStore } from '../../../shared/domain/group-links/removal-plan.ts'
import type { SyncJob } from '../../../shared/domain/group-links/sync-job.ts'
import type { TenantStore } from '../../../shared/domain/group-links/tenant-store.ts'
import type { RefusalCode } from '../../../shared/kernel/refusal-register.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import type { Versioned } from '../../../shared/kernel/versioned.ts'

/**
 * The stores of group links in memory, for properties with thousands of runs. Their contracts are those of the stores
 * on the local database, which the other tests use.
 */
export type MemoryStores = {
  readonly links: LinkStore & LinkLists
  readonly jobs: JobStore
  readonly settings: LinkSettingsStore
  readonly removalPlans: RemovalPlanStore
  readonly tenants: TenantStore
}

export function memoryStores(): MemoryStores {
  const links = versionedRecords<GroupLink>('LinkNotFound')
  const jobs = versionedRecords<SyncJob>('SyncJobNotFound')
  const settings = versionedRecords<LinkSettings & { id: string }>('StaleVersion')
  settings.add({ ...DEFAULT_LINK_SETTINGS, id: SETTINGS_ID })
  const former = new Map<string, FormerLink>()
  const plans = new Map<string, readonly string[]>()
  const oldestFirst = (some: Versioned<SyncJob>[]) =>
    some.sort((left, right) => left.value.createdAt.localeCompare(right.value.createdAt))
  const unfinished = () => jobs.all().filter(({ value }) => value.status === 'Queued' || value.status === 'Running')
  return {
    links: {
      find: async (_tenantId, linkId) => links.find(linkId),
      async findWithSettings(_tenantId, linkId) {
        const found = links.find(linkId)
        return found && { ...found, settings: settings.get(SETTINGS_ID).value }
      },
      ofCollection: async (_tenantId, id) => links.all().filter(({ value }) => value.collectionId === id),
      ofCollections: async () => [],
      attention: async () => [],
      ofGroup: async (_tenantId, id) => links.all().find(({ value }) => value.directoryGroupId === id),
      ofTenant: async () => links.all(),
      ofGroups: async () => links.all().map(({ value }) => value),
      page: async () => ({ items: links.all().map(({ value }) => value) }),
      linkedCollectionIds: async () => links.all().map(({ value }) => value.collectionId),
      count: async () => links.all().length,
      add: async (link) => links.add(succeeding(link, former.get(link.directoryGroupId))),
      replace: async (link, version) => links.replace(link, version),
      async remove(link, version) {
        links.remove(link.id, version)
        former.set(link.directoryGroupId, formerLinkOf(link))
      },
    },
    jobs: {
      find: async (_tenantId, jobId) => jobs.find(jobId),
      beginSweep: async () => ({
        lastSweepMs: undefined,
        readUntilS: undefined,
        evaluated: undefined,
        record: async () => undefined,
      }),
      add: async (job) => void (jobs.find(job.id) ?? jobs.add(job)),
      replace: async (job, version) => jobs.replace(job, version),
      changes: async () => ({ items: [] }),
      page: async () => ({ items: oldestFirst(jobs.all()).map(({ value }) => value) }),
      unfinishedOf: async (_tenantId, linkId) =>
        oldestFirst(unfinished().filter(({ value }) => value.linkId === linkId)),
      unfinished: async () => oldestFirst(unfinished()),
    },
    settings: {
      register: async () => undefined,
      timeZones: async () => new Map(),
      find: async () => settings.get(SETTINGS_ID),
      replace: async (_tenantId, changed, version) => settings.replace({ ...changed, id: SETTINGS_ID }, version).value,
    },
    removalPlans: {
      save: async ({ planId }, accounts) => void plans.set(planId, accounts),
      page: async ({ planId }) => ({ items: plans.get(planId) ?? [] }),
      includes: async ({ planId }, account) => plans.get(planId)?.includes(account) ?? false,
      accountsOf: async ({ planId }) => new Set(plans.get(planId)),
    },
    tenants: {
      register: async () => undefined,
      list: async function* () {},
      lastSweepMs: async () => undefined,
    },
  }
}

const SETTINGS_ID = 'settings'

/** Records with the versions that a database gives them. What is read or written is copied. */
function versionedRecords<T extends { readonly id: string }>(missing: RefusalCode) {
  const records = new Map<string, Versioned<T>>()
  let writeCount = 0
  const find = (id: string): Versioned<T> | undefined => structuredClone(records.get(id))
  const write = (value: T): Versioned<T> => {
    writeCount += 1
    records.set(value.id, { value: structuredClone(value), version: String(writeCount) })
    return get(value.id)
  }
  const get = (id: string): Versioned<T> => {
    const found = find(id)
    if (found === undefined) throw new Refusal(missing)
    return found
  }
  return {
    find,
    get,
    add: write,
    all: () => [...records.keys()].map(get),
    remove(id: string, version: string): void {
      if (get(id).version !== version) throw new Refusal('StaleVersion')
      records.delete(id)
    },
    replace(value: T, version: string): Versioned<T> {
      if (get(value.id).version !== version) throw new Refusal('StaleVersion')
      return write(value)
    },
  }
}
