import { useEffect, useRef, useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MemberDto } from '../../../shared/domain/collections/list-members.ts'
import { ConfirmedAction, useDone } from '../components/actions.tsx'
import { ExplanationDialog } from '../components/explanation.tsx'
import { Badge, OptionalText, SearchField, useAddress } from '../components/fields.tsx'
import { ItemPicker, PickedItems } from '../components/item-picker.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import type { Column } from '../components/sorted.tsx'
import { t } from '../language/texts.ts'
import type { PickedItem } from '../object-names.ts'
import { useMemberCount } from '../read-counts.ts'
import { type Pages, usePages } from '../resource.ts'
import { useConsole } from '../session.ts'

const MEMBERS_PER_PAGE = 500

/** A changed condition is evaluated within this time. Until then, the members are loaded again and again. */
const EVALUATED_WITHIN_MS = 15_000
const RELOADED_AFTER_MS = 1_500

type MembersSectionProps = { readonly collection: CollectionDto; readonly isJoinable: boolean }

/** The members by name, why each is one, and for joinable collections adding and removing. */
export function MembersSection({ collection: { id, updatedAt, objectType }, isJoinable }: MembersSectionProps) {
  const { api } = useConsole()
  const [text, setText] = useAddress('text')
  const [explained, setExplained] = useState<PickedItem | undefined>(undefined)
  const filter = text.trim() === '' ? '' : `&text=${encodeURIComponent(text.trim())}`
  const members = usePages(`/collections/beta/${id}/members?pageSize=${MEMBERS_PER_PAGE}${filter}`, api.page<MemberDto>)
  const isRecent = Date.now() - Date.parse(updatedAt) < EVALUATED_WITHIN_MS
  // Of a new condition, an empty list only says that it is not evaluated yet.
  const isComputing = isRecent && !isJoinable && text === '' && members.value?.length === 0
  useEffect(() => {
    if (!isRecent || members.isLoading) return undefined
    const timer = setTimeout(members.reload, RELOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [updatedAt, members.isLoading, members.reload])
  const [notice, onChange] = useDone(members.reload)
  return (
    <>
      <Section title={t('members')} actions={isJoinable && <AddMembers collectionId={id} onAdded={onChange} />}>
        {notice}
        <div class="between">
          <SearchField label={t('membersFilter')} value={text} onInput={setText} />
          <p class="faint" role="status">
            {!isComputing && <MemberCount collectionId={id} members={members} isSearch={filter !== ''} />}
          </p>
        </div>
        <Loaded resource={members}>
          {(items) => (
            <RecordList
              label={t('members')}
              items={items}
              loadMore={members.loadMore}
              keyOf={({ objectId, relationshipId }) => `${objectId} ${relationshipId}`}
              empty={
                isComputing
                  ? t('membersComputing')
                  : text === ''
                    ? t(isJoinable ? 'membersEmptyJoinable' : 'membersEmpty')
                    : t('membersNoMatch')
              }
              columns={[
                ...MEMBER_COLUMNS.map((column) => ({ ...column, head: t(column.head), isReused: true })),
                {
                  head: t('actions'),
                  isReused: !isJoinable,
                  cell: ({ objectId, displayName }) => (
                    <div class="actions">
                      <button
                        type="button"
                        onClick={() => setExplained({ id: objectId, name: displayName ?? objectId })}
                      >
                        {t('why')}
                      </button>
                      {isJoinable && (
                        <RemoveMember collectionId={id} member={{ objectId, displayName }} onRemoved={onChange} />
                      )}
                    </div>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      {objectType !== 'OrgUnit' && (
        <Section title={t('whySomebody')}>
          <ItemPicker label={t('findPerson')} hint={t('whySomebodyHint')} onPick={setExplained} />
        </Section>
      )}
      {explained !== undefined && (
        <ExplanationDialog
          collectionId={id}
          objectId={explained.id}
          name={explained.name}
          onClose={() => setExplained(undefined)}
        />
      )}
    </>
  )
}

type MemberCountProps = {
  readonly collectionId: string
  readonly members: Pages<MemberDto>
  readonly isSearch: boolean
}

/** How many members there are, also before all of them are loaded. */
function MemberCount({ collectionId, members: { value, isComplete, loadedAt }, isSearch }: MemberCountProps) {
  if (value === undefined) return null
  const { length: count } = value
  if (isComplete) return <>{t('memberCount', { count })}</>
  // How many match a search is known at the end of the list.
  if (isSearch) return <>{t('moreThan', { count })}</>
  return <TotalCount collectionId={collectionId} shownCount={count} loadedAt={loadedAt} />
}

type TotalCountProps = {
  readonly collectionId: string
  readonly shownCount: number
  /** When the list was loaded: the number is read again with it. */
  readonly loadedAt: Date | undefined
}

function TotalCount({ collectionId, shownCount, loadedAt }: TotalCountProps) {
  const total = useMemberCount(collectionId)
  const readAt = useRef(loadedAt)
  useEffect(() => {
    if (readAt.current === loadedAt) return
    readAt.current = loadedAt
    total.reload()
  }, [loadedAt])
  const count = total.value ?? 0
  return <>{count > shownCount ? t('memberCount', { count }) : t('moreThan', { count: shownCount })}</>
}

const MEMBER_COLUMNS = [
  { head: 'name', cell: ({ displayName }) => <OptionalText value={displayName} /> },
  { head: 'title', cell: ({ title }) => <OptionalText value={title} /> },
  { head: 'orgUnit', cell: ({ orgUnitName }) => <OptionalText value={orgUnitName} /> },
  { head: 'account', cell: ({ hasAccount }) => <AccountBadge hasAccount={hasAccount} /> },
] as const satisfies readonly Column<MemberDto>[]

function AccountBadge({ hasAccount }: { readonly hasAccount: boolean }) {
  return <Badge kind={hasAccount ? 'good' : 'warn'}>{hasAccount ? t('hasAccount') : t('noAccount')}</Badge>
}

type AddMembersProps = { readonly collectionId: string; readonly onAdded: (done: string) => void }

/** Adds people without a request. */
function AddMembers({ collectionId, onAdded }: AddMembersProps) {
  const { api } = useConsole()
  const [people, setPeople] = useState<readonly PickedItem[]>([])
  const add = async () => {
    const body = { coreIdentityIds: people.map(({ id }) => id) }
    const path = `/collections-joinable/beta/${collectionId}/results/members`
    const { data } = await api.send<{ added: number; alreadyMembers: number }>('POST', path, { body })
    setPeople([])
    onAdded(t('membersAdded', { count: data.added, already: data.alreadyMembers }))
  }
  return (
    <ConfirmedAction
      label={t('addPeople')}
      question={t('addPeopleHint')}
      kind="primary"
      confirmLabel={t('addCount', { count: people.length })}
      isReady={people.length > 0}
      run={add}
    >
      <PickedItems items={people} onChange={setPeople} />
      <ItemPicker
        label={t('findPerson')}
        without={people.map(({ id }) => id)}
        onPick={(person) => setPeople([...people, person])}
      />
    </ConfirmedAction>
  )
}

type RemoveMemberProps = {
  readonly collectionId: string
  readonly member: Pick<MemberDto, 'objectId' | 'displayName'>
  readonly onRemoved: (done: string) => void
}

function RemoveMember({ collectionId, member: { objectId, displayName }, onRemoved }: RemoveMemberProps) {
  const { api } = useConsole()
  const name = displayName ?? objectId
  return (
    <ConfirmedAction
      label={t('removeItem')}
      question={t('removeMemberConfirm', { name })}
      run={async () => {
        const body = { coreIdentityIds: [objectId] }
        await api.send('DELETE', `/collections-joinable/beta/${collectionId}/results/members`, { body })
        onRemoved(t('memberRemoved', { name }))
      }}
    />
  )
}
