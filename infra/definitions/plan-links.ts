import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import { isGuid } from '../../shared/kernel/guid.ts'
import { type ApiCall, ApiRefusal } from '../import/api-connection.ts'
import type { DefinitionFile, FileFault } from './definition-file.ts'
import type { Planned, Step } from './step.ts'
import { findGroups, LINKS, type LinkRecord, type Tenant, uniqueNames } from './tenant.ts'
import type { WantedCollection } from './wanted.ts'

/** Requests that run at the same time. */
const CALLS_AT_ONCE_COUNT = 4

type LinkState = LinkRecord['state']
type WantedLink = {
  readonly file: DefinitionFile
  readonly collectionId: string
  /** The collection does not exist yet. */
  readonly isOfNew: boolean
  readonly groupId: string
  readonly groupName: string
  readonly state: LinkState
}

/** Deletions, creations and updates of links. Deletions come first: a group has one link. */
export async function planLinks(
  files: readonly DefinitionFile[],
  collections: readonly WantedCollection[],
  tenant: Tenant,
  prunes: boolean,
  call: ApiCall,
): Promise<Planned> {
  const { links, faults } = await wantedLinks(files, collections, tenant, call)
  const definedIds = new Set(collections.map(({ id }) => id))
  for (const { file, collectionId } of prunes ? links : []) {
    if (definedIds.has(collectionId)) continue
    faults.push(file.fault('/collection', 'No file defines this collection, which --prune would delete'))
  }
  const byGroup = new Map(tenant.links.map((link) => [link.directoryGroupId, link]))
  const nameOf = new Map(tenant.collections.map(({ id, name }) => [id, name]))
  const steps = new Map<string, readonly Step[]>()
  await forEachConcurrent(links, CALLS_AT_ONCE_COUNT, async (link) => {
    const stored = byGroup.get(link.groupId)
    const isMoved = stored !== undefined && stored.collectionId !== link.collectionId
    if (isMoved && !prunes) {
      const other = nameOf.get(stored.collectionId) ?? stored.collectionId
      const message = `The group is linked to ${other}. --prune deletes that link first`
      faults.push(link.file.fault('/group', message))
      return
    }
    const planned = stored === undefined || isMoved ? await creationOf(link, call) : await updateOf(link, stored, call)
    faults.push(...planned.faults)
    steps.set(link.groupId, planned.steps)
  })
  const wanted = new Map(links.map((link) => [link.groupId, link.collectionId]))
  const surplus = tenant.links.filter((link) => wanted.get(link.directoryGroupId) !== link.collectionId)
  const deletions: Step[] = []
  if (prunes) {
    await forEachConcurrent(surplus, CALLS_AT_ONCE_COUNT, async (link) => {
      const path = `${LINKS}/${link.id}`
      const { etag } = await call('GET', path)
      const name = link.directoryGroupDisplayName ?? link.directoryGroupId
      const note = 'the group keeps its members'
      const step = { action: 'delete', kind: 'link', name, file: undefined, fields: [], note } as const
      deletions.push({ ...step, method: 'DELETE', path, etag })
    })
  }
  const byName = (left: Step, right: Step) => (left.name < right.name ? -1 : 1)
  return { steps: [...deletions.sort(byName), ...links.flatMap(({ groupId }) => steps.get(groupId) ?? [])], faults }
}

async function wantedLinks(
  files: readonly DefinitionFile[],
  collections: readonly WantedCollection[],
  tenant: Tenant,
  call: ApiCall,
): Promise<{ readonly links: readonly WantedLink[]; readonly faults: FileFault[] }> {
  const faults: FileFault[] = []
  const ofLinks = files.filter(({ kind }) => kind === 'link')
  const linkOf = ({ value }: DefinitionFile) =>
    value as unknown as { collection: string; group: string; state?: LinkState }
  const names = ofLinks.map((file) => linkOf(file).group).filter((group) => !isGuid(group))
  const groups = await findGroups(names, call)
  const byName = uniqueNames(tenant.collections, ({ name }) => name)
  const wantedByName = new Map(collections.map((collection) => [collection.name, collection]))
  const links = new Map<string, WantedLink>()
  for (const file of ofLinks) {
    const { collection: name, group, state = 'Enabled' } = linkOf(file)
    const collection = wantedByName.get(name) ?? byName.get(name)
    const found = isGuid(group) ? [group.toLowerCase()] : (groups.get(group) ?? [])
    const [groupId] = found
    if (collection === undefined) {
      faults.push(file.fault('/collection', `There is no collection ${name}, or there are several`))
    }
    if (groupId === undefined || found.length > 1) {
      const reason = groupId === undefined ? 'The directory finds no group' : 'Several groups have the name'
      faults.push(file.fault('/group', `${reason} ${group}. Use the id of the group`))
    } else if (links.has(groupId)) {
      faults.push(file.fault('/group', `The group is already in ${links.get(groupId)?.file.file}`))
    } else if (collection !== undefined) {
      const isOfNew = wantedByName.has(name) && wantedByName.get(name)?.record === undefined
      links.set(groupId, { file, collectionId: collection.id, isOfNew, groupId, groupName: group, state })
    }
  }
  return { links: [...links.values()], faults }
}

async function creationOf(link: WantedLink, call: ApiCall): Promise<Planned> {
  const { file, collectionId, groupId: directoryGroupId, groupName: name, state } = link
  const common = { kind: 'link', name, file } as const
  const body = { collectionId, directoryGroupId }
  const isDisabled = state === 'Disabled'
  const id = `new link ${directoryGroupId}`
  const create = { ...common, action: 'create', fields: [], method: 'POST', path: LINKS, body, creates: id } as const
  const preview = link.isOfNew ? { faults: [] } : await previewOf(link, call)
  if (preview.faults.length > 0) return { steps: [], faults: preview.faults }
  const accounts = 'accounts' in preview ? { accounts: preview.accounts } : {}
  if (!isDisabled) return { steps: [{ ...create, ...accounts }], faults: [] }
  const disable = { ...common, action: 'update', fields: ['state'], method: 'PATCH', path: `${LINKS}/${id}` } as const
  const note = 'disabled at once, but its first sync may come before'
  return {
    steps: [
      { ...create, ...accounts, note },
      { ...disable, body: { state } },
    ],
    faults: [],
  }
}

async function updateOf(link: WantedLink, stored: LinkRecord, call: ApiCall): Promise<Planned> {
  if (stored.state === link.state) return { steps: [], faults: [] }
  const path = `${LINKS}/${stored.id}`
  const { etag } = await call('GET', path)
  const { file, groupName: name, state } = link
  const step = { action: 'update', kind: 'link', name, file, fields: ['state'], etag } as const
  const request = { method: 'PATCH', path, body: { state } } as const
  if (state === 'Disabled') {
    const note = 'the group keeps its members and is no longer synced'
    return { steps: [{ ...step, ...request, note }], faults: [] }
  }
  const { accounts, faults } = await previewOf(link, call)
  return { steps: faults.length > 0 ? [] : [{ ...step, ...request, accounts }], faults }
}

/** What a sync of the collection's present members would do. */
async function previewOf(
  { file, collectionId, groupId }: WantedLink,
  call: ApiCall,
): Promise<{ readonly accounts: NonNullable<Step['accounts']>; readonly faults: readonly FileFault[] }> {
  try {
    const { data } = await call('POST', `${LINKS}/preview`, { collectionId, groupId })
    const { membersToAdd, membersToRemove, membersWithoutEntraAccount } = data as {
      membersToAdd: string[]
      membersToRemove: string[]
      membersWithoutEntraAccount: number
    }
    const toRemove = membersWithoutEntraAccount > 0 ? 0 : membersToRemove.length
    return { accounts: { toAdd: membersToAdd.length, toRemove }, faults: [] }
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status >= 500 || error.errors.length === 0) throw error
    return {
      accounts: { toAdd: 0, toRemove: 0 },
      faults: error.errors.map(({ message }) => file.fault('/group', message)),
    }
  }
}
