import type { ApiCall } from '../import/api-connection.ts'
import type { DefinitionFile } from './definition-file.ts'
import { planCollections } from './plan-collections.ts'
import { planDeletions } from './plan-deletions.ts'
import { planLinks } from './plan-links.ts'
import type { DefinitionPlan, Planned } from './step.ts'
import { contains, SETTINGS, type Tenant } from './tenant.ts'
import { wantedCollections } from './wanted.ts'

/**
 * The changes after which the tenant is as the files say. Writes nothing.
 * @param prunes whether collections and links that no file defines are deleted
 * @throws CommandError when the API cannot be read
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
