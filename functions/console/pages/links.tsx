import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import { useAction } from '../components/actions.tsx'
import { Badge, OptionalText, SearchField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Empty, ErrorNotice, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { numberOf, t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'

/** All links of the tenant, those that need attention first. */
export function LinksView() {
  const { api } = useConsole()
  const links = useResource('links', () => api.all<GroupLinkDto>('/group-link/beta/group-links'))
  return (
    <Page title={t('links')}>
      <Loaded resource={links}>{(all) => <LinkTable links={all.toSorted(urgentFirst)} />}</Loaded>
    </Page>
  )
}

function urgentFirst(one: GroupLinkDto, other: GroupLinkDto): number {
  return Number(isUrgent(other)) - Number(isUrgent(one))
}

const isUrgent = ({ lastSyncOutcome, heldRemovals }: GroupLinkDto): boolean =>
  lastSyncOutcome === 'Failed' || heldRemovals !== null

export function LinkTable({ links }: { readonly links: readonly GroupLinkDto[] }) {
  return (
    <List
      label={t('links')}
      items={links}
      keyOf={({ id }) => id}
      empty={t('linksEmpty')}
      columns={[
        { head: t('group'), cell: (link) => <a href={hrefOf(`/links/${link.id}`)}>{groupNameOf(link)}</a> },
        {
          head: t('state'),
          cell: ({ state }) => <Badge kind={state === 'Enabled' ? 'good' : 'plain'}>{t(state)}</Badge>,
        },
        { head: t('heldRemovals'), cell: ({ heldRemovals }) => <HeldCount count={heldRemovals?.count} /> },
        { head: t('lastSync'), cell: (link) => <LastSync link={link} /> },
      ]}
    />
  )
}

export function groupNameOf({ directoryGroupDisplayName, directoryGroupId }: GroupLinkDto): string {
  return directoryGroupDisplayName ?? directoryGroupId
}

function HeldCount({ count }: { readonly count: number | undefined }) {
  return count === undefined ? <OptionalText value={null} /> : <Badge kind="bad">{numberOf(count)}</Badge>
}

function LastSync({ link: { lastSyncOutcome, lastSyncedAt } }: { readonly link: GroupLinkDto }) {
  if (lastSyncOutcome === null) return <OptionalText value={t('never')} />
  return (
    <>
      <Badge kind={lastSyncOutcome === 'Succeeded' ? 'good' : 'bad'}>{t(lastSyncOutcome)}</Badge>{' '}
      {lastSyncedAt !== null && timeOf(lastSyncedAt)}
    </>
  )
}

type FoundGroup = {
  readonly id: string
  readonly displayName: string
  readonly linkable: boolean
  readonly refusal: string | null
  readonly linkId: string | null
}

type LinkPreview = {
  readonly membersToAdd: readonly string[]
  readonly membersToRemove: readonly string[]
  readonly membersWithoutEntraAccount: number
}

const SHORTEST_SEARCH = 2

/** Links a group to a collection, after showing what that changes in the group. */
export function NewLinkView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const [group, setGroup] = useState<FoundGroup | undefined>(undefined)
  const collection = useResource(id, async () => (await api.send<CollectionDto>('GET', `/collections/beta/${id}`)).data)
  const isSearched = text.trim().length >= SHORTEST_SEARCH
  const groups = useResource(isSearched ? text.trim() : '', async (signal): Promise<FoundGroup[]> => {
    if (!isSearched) return []
    const path = `/group-link/beta/groups?text=${encodeURIComponent(text.trim())}`
    return (await api.send<FoundGroup[]>('GET', path, { signal })).data
  })
  return (
    <Loaded resource={collection}>
      {({ name }) => (
        <Page title={`${t('newLink')}: ${name}`}>
          <Section title={t('chooseGroup')}>
            <SearchField label={t('groupFilter')} value={text} onInput={setText} />
            <Loaded resource={groups}>
              {(found) =>
                found.length === 0 ? (
                  <Empty>{t('groupFilter')}</Empty>
                ) : (
                  <GroupList groups={found} onChoose={setGroup} />
                )
              }
            </Loaded>
          </Section>
          {group !== undefined && <PreviewSection key={group.id} collectionId={id} group={group} />}
        </Page>
      )}
    </Loaded>
  )
}

type GroupListProps = { readonly groups: readonly FoundGroup[]; readonly onChoose: (group: FoundGroup) => void }

function GroupList({ groups, onChoose }: GroupListProps) {
  return (
    <List
      label={t('chooseGroup')}
      items={groups}
      keyOf={({ id }) => id}
      empty={t('groupFilter')}
      columns={[
        { head: t('group'), cell: ({ displayName }) => displayName },
        {
          head: t('actions'),
          cell: (group) =>
            group.linkable ? (
              <button type="button" onClick={() => onChoose(group)}>
                {t('chooseGroup')}
              </button>
            ) : (
              <span class="faint">
                {t('notLinkable')} ({group.refusal})
              </span>
            ),
        },
      ]}
    />
  )
}

function PreviewSection({ collectionId, group }: { readonly collectionId: string; readonly group: FoundGroup }) {
  const { api } = useConsole()
  const preview = useResource(group.id, async () => {
    const body = { collectionId, groupId: group.id }
    return (await api.send<LinkPreview>('POST', '/group-link/beta/group-links/preview', { body })).data
  })
  const link = useAction(async () => {
    const body = { collectionId, directoryGroupId: group.id }
    const { data } = await api.send<string>('POST', '/group-link/beta/group-links', { body })
    navigate(`/links/${data}`)
  })
  return (
    <Section title={`${t('linkPreview')}: ${group.displayName}`}>
      <Loaded resource={preview}>
        {({ membersToAdd, membersToRemove, membersWithoutEntraAccount }) => (
          <>
            <div role="status">
              <ul>
                <li>{t('toAdd', { count: membersToAdd.length })}</li>
                <li class={membersToRemove.length > 0 ? 'warning' : undefined}>
                  {t('toRemove', { count: membersToRemove.length })}
                </li>
                <li>{t('withoutAccount', { count: membersWithoutEntraAccount })}</li>
              </ul>
            </div>
            <button type="button" class="primary" disabled={link.isRunning} onClick={link.start}>
              {t('linkGroup')}
            </button>
            {link.error !== undefined && <ErrorNotice error={link.error} />}
          </>
        )}
      </Loaded>
    </Section>
  )
}
