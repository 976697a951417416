import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'
import type { ApiCall } from '../import/api-connection.ts'
import type { DefinitionFile, FileFault } from './definition-file.ts'
import { planCollections } from './plan-collections.ts'
import { planDeletions } from './plan-deletions.ts'
import { planLinks } from './plan-links.ts'
import { contains, SETTINGS, type Tenant } from './tenant.ts'
import { wantedCollections } from './wanted.ts'

/** A request that makes one change. Ids of collections that are not created yet are placeholders. */
export type Step = {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: 'criteria' | 'joinable' | 'link' | 'settings'
  /** Of the collection, or of the group of a link. */
  readonly name: string
  readonly file: DefinitionFile | undefined
  /** What changes: member names, or a few words. */
  readonly fields: readonly string[]
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: JsonObject
  /** The version of the record that the step changes. */
  readonly etag?: string | undefined
  /** The placeholder of the id that the response holds. */
  readonly creates?: string
  /** Where the effect is planned. */
  readonly planPath?: string
  /** What saving does. Undefined where it depends on earlier steps. */
  readonly effect?: ChangePlan | undefined
  /** Collections that affect each other have the same group. */
  readonly group?: string
  /** Accounts that the first sync of a link adds and removes. */
  readonly accounts?: { readonly toAdd: number; readonly toRemove: number }
  /** Members that a deleted collection has. */
  readonly memberCount?: number
  readonly note?: string
}

export type DefinitionPlan = {
  readonly steps: readonly Step[]
  readonly faults: readonly FileFault[]
  /** Names of groups by id. */
  readonly groupNames: ReadonlyMap<string, string>
}

/** A planned step, or the mistakes that prevent it. */
export type Planned = { readonly steps: readonly Step[]; readonly faults: readonly FileFault[] }

/**
 * What has to change so that the tenant is as the files say. Writes nothing.
 * @param prunes whether collections and links that no file defines are deleted
 * @throws ImportError when the API cannot be read
 */
export async function planDefinitions(
  files: readonly DefinitionFile[],
  tenant: Tenant,
  prunes: boolean,
  call: ApiCall,
): Promise<DefinitionPlan> {
  const { collections, faults } = wantedCollections(files, tenant)
  const settings = await planSettings(files, tenant, call)
  const planned = await planCollections(collections, tenant, call)
  const links = await planLinks(files, collections, tenant, prunes, call)
  const deletions = prunes ? await planDeletions(collections, tenant, call) : { steps: [], faults: [] }
  const parts = [settings, planned, links, deletions]
  const groupNames = tenant.links.map(({ directoryGroupId: id, directoryGroupDisplayName: name }) => [id, name ?? id])
  return {
    steps: parts.flatMap(({ steps }) => steps),
    faults: [...faults, ...parts.flatMap((part) => part.faults)],
    groupNames: new Map(groupNames as [string, string][]),
  }
}

async function planSettings(files: readonly DefinitionFile[], { settings }: Tenant, call: ApiCall): Promise<Planned> {
  const [file, second] = files.filter(({ kind }) => kind === 'settings')
  if (file === undefined) return { steps: [], faults: [] }
  if (second !== undefined) return { steps: [], faults: [second.fault('', `Settings are already in ${file.file}`)] }
  const fields = Object.keys(file.value).filter((name) => !contains(settings[name], file.value[name]))
  if (fields.length === 0) return { steps: [], faults: [] }
  const { etag } = await call('GET', SETTINGS)
  const body = Object.fromEntries(fields.map((name) => [name, file.value[name] ?? null]))
  const step = { action: 'update', kind: 'settings', name: 'settings', file, fields, etag, body } as const
  return { steps: [{ ...step, method: 'PATCH', path: SETTINGS }], faults: [] }
}
