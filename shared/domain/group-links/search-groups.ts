import { type Static, Type } from 'typebox'
import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, characterCount, Described, Guid, Nullable } from '../../kernel/schema.ts'
import { compareNames } from '../core/search-text.ts'
import { DirectoryFault, type DirectoryGroup, groupRefusal } from './directory.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import type { LinkLists } from './link-store.ts'

/** A directory group as a candidate for a link. */
export const LinkableGroup = Closed({
  id: Guid,
  displayName: Nullable(Type.String()),
  linkable: Described(Type.Boolean(), 'Whether a link to the group can be created now.'),
  refusal: Described(
    Nullable(Type.String()),
    'The code with which the creation of a link would be refused; null when the group is linkable.',
  ),
  linkId: Described(Nullable(Guid), 'The link that the group has; null without one.'),
})
export type LinkableGroup = Static<typeof LinkableGroup>

/** A search is for choosing one group: a longer text finds fewer. */
const MAX_GROUPS_COUNT = 50
const TEXT_LENGTH_COUNT = { least: 2, most: 256 }

export type SearchDependencies = Pick<LinkDependencies, 'directory' | 'settings' | 'log'> & {
  readonly links: Pick<LinkLists, 'ofGroups'>
}

/**
 * Finds groups of the directory whose name starts with a text, ordered by name.
 * @throws Refusal `InvalidLength`; `GroupNotVerified` when the directory cannot be searched.
 */
export async function searchGroups(tenantId: string, text: string, deps: SearchDependencies): Promise<LinkableGroup[]> {
  const nameStart = text.trim()
  const { least, most } = TEXT_LENGTH_COUNT
  if (characterCount(nameStart) < least || characterCount(nameStart) > most)
    throw new Refusal('InvalidLength', `text must have ${least} to ${most} characters`, 'text')
  const { directory, links, log } = deps
  try {
    const groups = await directory.findGroups(tenantId, nameStart, MAX_GROUPS_COUNT)
    const ids = groups.map(({ id }) => id)
    const linkIds = new Map((await links.ofGroups(tenantId, ids)).map((link) => [link.directoryGroupId, link.id]))
    const free = groups.filter((group) => !linkIds.has(group.id) && groupRefusal(group) === undefined)
    const notOwned = await requiredAndNotOwned(tenantId, free, deps)
    return groups.map((group) => linkableGroup(group, linkIds.get(group.id), notOwned)).sort(byName)
  } catch (fault) {
    if (!(fault instanceof DirectoryFault)) throw fault
    log.warn('link.group-search-failed', { tenantId, kind: fault.kind, reason: fault.message })
    throw new Refusal('GroupNotVerified', 'The directory could not be searched for groups.', 'text', fault)
  }
}

/** The groups that the service would have to own and does not. @throws DirectoryFault */
async function requiredAndNotOwned(
  tenantId: string,
  groups: readonly DirectoryGroup[],
  { directory, settings }: Pick<SearchDependencies, 'directory' | 'settings'>,
): Promise<ReadonlySet<string>> {
  const { linkableGroups } = (await settings.find(tenantId)).value
  if (linkableGroups === 'Any') return new Set()
  const ids = groups.map(({ id }) => id)
  return new Set(ids).difference(await directory.ownedGroups(tenantId, ids))
}

function linkableGroup(
  group: DirectoryGroup,
  linkId: string | undefined,
  notOwned: ReadonlySet<string>,
): LinkableGroup {
  const { id, displayName } = group
  const ownership: RefusalCode | undefined = notOwned.has(id) ? 'GroupNotOwned' : undefined
  const refusal: RefusalCode | undefined =
    linkId === undefined ? (groupRefusal(group) ?? ownership) : 'GroupAlreadyLinked'
  return { id, displayName, linkable: refusal === undefined, refusal: refusal ?? null, linkId: linkId ?? null }
}

function byName(left: LinkableGroup, right: LinkableGroup): number {
  const order = compareNames(left.displayName ?? '', right.displayName ?? '')
  return order === 0 ? Number(left.id > right.id) - Number(left.id < right.id) : order
}
