import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import { Badge, Choice, OptionalText, SearchField, useAddress } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import type { NamesById } from '../condition/condition-text.tsx'
import { agoText, compareByLocale, numberOf, t, timeOf } from '../language/texts.ts'
import { collectionNames, groupNameOf, isTextIn } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

const FILTERS = ['anyLink', 'urgent', 'Enabled', 'Disabled'] as const
type Filter = (typeof FILTERS)[number]

/** All links of the tenant, those that need attention first. */
export function LinksView() {
  const { api } = useConsole()
  const [text, setText] = useAddress('text')
  const [chosen, setFilter] = useAddress('show')
  const filter = FILTERS.find((name) => name === chosen) ?? 'anyLink'
  const loaded = useResource('links', async () => {
    const [links, names] = await Promise.all([
      api.all<GroupLinkDto>('/group-link/beta/group-links'),
      collectionNames(api),
    ])
    return { links: links.toSorted(urgentFirst), names }
  })
  return (
    <Page
      title={t('links')}
      actions={
        <a class="button primary" href={hrefOf('/links/new')}>
          {t('newLink')}
        </a>
      }
    >
      <Loaded resource={loaded}>
        {({ links, names }) => {
          const shown = links.filter((link) => {
            return isIn(link, filter) && isTextIn(text, [groupNameOf(link), names.get(link.collectionId)])
          })
          return (
            <>
              <div class="between">
                <div class="actions">
                  <SearchField label={t('linksFilter')} value={text} onInput={setText} />
                  <Choice
                    label={t('state')}
                    isLabelHidden
                    value={filter}
                    options={FILTERS.map((value) => ({ value, text: t(value) }))}
                    onChange={(value) => setFilter(value === 'anyLink' ? '' : value)}
                  />
                </div>
                <p class="faint" role="status">
                  {t('countOf', { shown: shown.length, count: links.length })}
                </p>
              </div>
              <LinkTable links={shown} names={names} empty={links.length === 0 ? t('linksEmpty') : t('linksNoMatch')} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

function urgentFirst(left: GroupLinkDto, right: GroupLinkDto): number {
  return Number(isUrgent(right)) - Number(isUrgent(left)) || compareByLocale(groupNameOf(left), groupNameOf(right))
}

const URGENT: readonly GroupLinkDto['syncState'][] = ['Failed', 'RemovalsHeld', 'RemovalsPaused']

const isUrgent = ({ syncState }: GroupLinkDto): boolean => URGENT.includes(syncState)

function isIn(link: GroupLinkDto, filter: Filter): boolean {
  if (filter === 'anyLink') return true
  return filter === 'urgent' ? isUrgent(link) : link.state === filter
}

type LinkTableProps = {
  readonly links: readonly GroupLinkDto[]
  readonly empty: string
  /** Names of collections. Without them, the collection is not shown. */
  readonly names?: NamesById
}

export function LinkTable({ links, empty, names }: LinkTableProps) {
  const collection = {
    head: t('collection'),
    sortBy: ({ collectionId }: GroupLinkDto) => names?.get(collectionId),
    text: ({ collectionId }: GroupLinkDto) => names?.get(collectionId) ?? collectionId,
    path: ({ collectionId }: GroupLinkDto) => `/collections/${collectionId}`,
  }
  return (
    <RecordList
      label={t('links')}
      items={links}
      keyOf={({ id }) => id}
      empty={empty}
      sortParameter="sort"
      columns={[
        { head: t('group'), text: groupNameOf, path: ({ id }) => `/links/${id}` },
        ...(names === undefined ? [] : [collection]),
        { head: t('state'), cell: (link) => <LinkState link={link} /> },
        { head: t('lastSync'), sortBy: ({ lastSyncedAt }) => lastSyncedAt, cell: (link) => <LastSync link={link} /> },
        {
          head: t('heldRemovals'),
          sortBy: ({ heldRemovals }) => heldRemovals?.count,
          cell: ({ heldRemovals }) => <HeldCount count={heldRemovals?.count} />,
        },
      ]}
    />
  )
}

const STATE_KIND = {
  InSync: 'good',
  Pending: 'plain',
  Failed: 'bad',
  RemovalsHeld: 'warn',
  RemovalsPaused: 'warn',
  Disabled: 'plain',
} as const satisfies Record<GroupLinkDto['syncState'], string>

/** What is true of the group now. */
export function LinkState({ link: { syncState } }: { readonly link: Pick<GroupLinkDto, 'syncState'> }) {
  return <Badge kind={STATE_KIND[syncState]}>{t(`sync${syncState}`)}</Badge>
}

function HeldCount({ count }: { readonly count: number | undefined }) {
  return count === undefined ? <OptionalText value={null} /> : <Badge kind="warn">{numberOf(count)}</Badge>
}

export function LastSync({ link: { lastSyncOutcome, lastSyncedAt } }: { readonly link: GroupLinkDto }) {
  if (lastSyncOutcome === null) return <OptionalText value={t('never')} />
  return (
    <>
      <Badge kind={lastSyncOutcome === 'Succeeded' ? 'good' : 'bad'}>{t(lastSyncOutcome)}</Badge>{' '}
      {lastSyncedAt !== null && <span title={timeOf(lastSyncedAt)}>{agoText(lastSyncedAt, new Date())}</span>}
    </>
  )
}
