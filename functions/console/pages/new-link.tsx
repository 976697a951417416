import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import { ActionButton, ConfirmedAction } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { OptionalText, SearchField } from '../components/fields.tsx'
import { ItemPicker } from '../components/item-picker.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { PeopleNumber } from '../components/people-dialog.tsx'
import { refusalSentence, t } from '../language/texts.ts'
import { peopleOfAccounts } from '../listed-people.ts'
import { collectionsNamed } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'

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
  readonly groupMemberCount: number
}

const SHORTEST_SEARCH = 2

/** Links a group to a collection, after showing what that changes in the group. */
export function NewLinkView({ parameters: { id } }: { readonly parameters: { readonly id?: string } }) {
  return id === undefined ? <CollectionStep /> : <GroupStep collectionId={id} />
}

function CollectionStep() {
  const { api } = useConsole()
  const collections = useResource('collections', () => api.all<CollectionDto>('/collections/beta'))
  return (
    <Page title={t('newLink')} back={{ path: '/links', text: t('links') }}>
      <Section title={t('chooseCollection')}>
        <Loaded resource={collections}>
          {(all) => (
            <ItemPicker
              label={t('collectionsFilter')}
              search={async (text) => collectionsNamed(all, text)}
              onPick={({ id }) => navigate(`/links/new/${id}`)}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}

function GroupStep({ collectionId }: { readonly collectionId: string }) {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const [group, setGroup] = useState<FoundGroup | undefined>(undefined)
  const collection = useResource(collectionId, () => api.read<CollectionDto>(`/collections/beta/${collectionId}`))
  const isSearched = text.trim().length >= SHORTEST_SEARCH
  const groups = useResource(isSearched ? text.trim() : '', async (signal): Promise<FoundGroup[]> => {
    if (!isSearched) return []
    const path = `/group-link/beta/groups?text=${encodeURIComponent(text.trim())}`
    return api.read<FoundGroup[]>(path, signal)
  })
  return (
    <Loaded resource={collection}>
      {({ name }) => (
        <Page title={t('linkNamed', { name })} back={{ path: `/collections/${collectionId}`, text: name }}>
          <Section title={t('chooseGroup')}>
            <SearchField label={t('groupFilter')} value={text} onInput={setText} />
            {isSearched ? (
              <Loaded resource={groups}>
                {(found) => (
                  <>
                    <GroupList groups={found} onChoose={setGroup} />
                    {found.length === FOUND_LIMIT_COUNT && (
                      <p class="hint">{t('maybeMore', { count: found.length })}</p>
                    )}
                  </>
                )}
              </Loaded>
            ) : (
              <Empty>{t('groupStart')}</Empty>
            )}
          </Section>
          {group !== undefined && <PreviewSection key={group.id} collectionId={collectionId} group={group} />}
        </Page>
      )}
    </Loaded>
  )
}

/** The API returns no more groups. */
const FOUND_LIMIT_COUNT = 50

type GroupListProps = { readonly groups: readonly FoundGroup[]; readonly onChoose: (group: FoundGroup) => void }

function GroupList({ groups, onChoose }: GroupListProps) {
  return (
    <CardList
      label={t('chooseGroup')}
      items={groups}
      keyOf={({ id }) => id}
      empty={t('groupNone')}
      columns={[
        { head: t('group'), cell: ({ displayName }) => displayName },
        { head: t('state'), cell: (group) => <Linkability group={group} /> },
        {
          head: t('actions'),
          cell: (group) =>
            group.linkable && (
              <button type="button" onClick={() => onChoose(group)}>
                {t('choose')}
              </button>
            ),
        },
      ]}
    />
  )
}

function Linkability({ group: { linkable, refusal, linkId } }: { readonly group: FoundGroup }) {
  if (linkable) return <OptionalText value={t('linkable')} />
  return (
    <span class="faint">
      {refusal === null ? t('notLinkable') : (refusalSentence(refusal) ?? refusal)}{' '}
      {linkId !== null && <a href={hrefOf(`/links/${linkId}`)}>{t('showLink')}</a>}
    </span>
  )
}

function PreviewSection({ collectionId, group }: { readonly collectionId: string; readonly group: FoundGroup }) {
  const { api } = useConsole()
  const preview = useResource(group.id, async () => {
    const body = { collectionId, groupId: group.id }
    return (await api.send<LinkPreview>('POST', '/group-link/beta/group-links/preview', { body })).data
  })
  const create = async () => {
    const body = { collectionId, directoryGroupId: group.id }
    const id = await api.create<string>('/group-link/beta/group-links', body)
    navigate(`/links/${id}`, t('linked'))
  }
  return (
    <Section title={t('linkPreview', { name: group.displayName })}>
      <Loaded resource={preview}>
        {(changes) => (
          <>
            <PreviewText {...changes} />
            <div class="actions">
              {removesAnybody(changes) ? (
                <ConfirmedAction
                  label={t('linkGroup')}
                  question={shareText(changes, group.displayName)}
                  confirmLabel={t('linkAndRemove', { count: changes.membersToRemove.length })}
                  run={create}
                />
              ) : (
                <ActionButton kind="primary" run={create}>
                  {t('linkGroup')}
                </ActionButton>
              )}
            </div>
          </>
        )}
      </Loaded>
    </Section>
  )
}

/** While members without an account pause removals, a sync removes no member. */
const removesAnybody = ({ membersToRemove, membersWithoutEntraAccount }: LinkPreview): boolean =>
  membersToRemove.length > 0 && membersWithoutEntraAccount === 0

/** How many members the group loses, and which share of it they are. */
function shareText({ membersToRemove: { length: count }, groupMemberCount }: LinkPreview, name: string): string {
  const percent = groupMemberCount === 0 ? 0 : Math.round((100 * count) / groupMemberCount)
  return t('linkRemovesConfirm', { count, size: groupMemberCount, percent, name })
}

function PreviewText({ membersToAdd, membersToRemove, membersWithoutEntraAccount }: LinkPreview) {
  const { api } = useConsole()
  return (
    <div role="status" class="condition">
      <p>
        <span class="big">
          <PeopleNumber
            count={membersToAdd.length}
            sign="+"
            title={t('accountsAdded')}
            source={peopleOfAccounts(api, membersToAdd)}
          />
        </span>{' '}
        {t('toAdd', { count: membersToAdd.length })}
      </p>
      <p class={membersToRemove.length > 0 ? 'fault' : undefined}>
        <span class="big">
          <PeopleNumber
            count={membersToRemove.length}
            sign="−"
            title={t('accountsRemoved')}
            source={peopleOfAccounts(api, membersToRemove)}
          />
        </span>{' '}
        {t('toRemove', { count: membersToRemove.length })}
      </p>
      {membersWithoutEntraAccount > 0 && (
        <div class="notice warn">
          <p>{t('withoutAccount', { count: membersWithoutEntraAccount })}</p>
        </div>
      )}
    </div>
  )
}
