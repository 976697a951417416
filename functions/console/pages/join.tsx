import { useState } from 'preact/hooks'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ConfirmedAction } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { Choice, OptionalText, SearchField, TextField, useAddress } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { isTextIn } from '../object-names.ts'
import { waitLines } from '../policy-lines.ts'
import { useResource } from '../resource.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { type OwnPosition, readOwnPositions } from './own-positions.ts'
import { REQUESTS } from './requests.tsx'

/** The collections that the person can ask to join. */
export function JoinView() {
  const { api, me } = useConsole()
  const [text, setText] = useAddress('text')
  const loaded = useResource('eligible', async () => {
    const [collections, positions] = await Promise.all([
      api.all<JoinableCollectionDto>(`${REQUESTS}/eligible`),
      readOwnPositions(me.identityId ?? '', Date.now(), api),
    ])
    return { collections, positions }
  })
  return (
    <Page title={t('join')}>
      <SearchField label={t('collectionsFilter')} value={text} onInput={setText} />
      <Loaded resource={loaded}>
        {({ collections, positions }) => (
          <CardList
            label={t('join')}
            items={collections.filter(({ name }) => isTextIn(text, [name]))}
            keyOf={({ id }) => id}
            empty={collections.length === 0 ? t('joinEmpty') : t('collectionsNoMatch')}
            columns={[
              { head: t('name'), text: ({ name }) => name },
              { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
              { head: t('approval'), cell: ({ joinPolicy }) => <PolicySummary policy={joinPolicy} /> },
              {
                head: t('actions'),
                cell: (collection) => <JoinAction collection={collection} positions={positions} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

const approvalText = (isRequired: boolean): string => (isRequired ? t('joinApproval') : t('joinImmediately'))

/** Whether a decision is needed, by whom and until when, and how long a membership lasts. */
function PolicySummary({ policy }: { readonly policy: JoinableCollectionDto['joinPolicy'] }) {
  const { approvalRequired, approvalGates, maxDays } = policy
  return (
    <div>
      {approvalText(approvalRequired)}
      {approvalRequired && (
        <div class="hint">
          {t('decidedBy', { types: approvalGates.map(({ type }) => t(`decider${type}`)).join(', ') })}
        </div>
      )}
      {waitLines(policy).map((line) => (
        <div key={line} class="hint">
          {line}
        </div>
      ))}
      {maxDays !== undefined && <div class="hint">{t('lastsDays', { count: maxDays })}</div>}
    </div>
  )
}

type JoinActionProps = { readonly collection: JoinableCollectionDto; readonly positions: readonly OwnPosition[] }

/** Asks to join: for one of several positions where the collection holds positions. */
function JoinAction({ collection: { id, name, objectType, joinPolicy }, positions }: JoinActionProps) {
  const { api } = useConsole()
  const [notes, setNotes] = useState('')
  const [position, setPosition] = useState('')
  const [endsAt, setEndsAt] = useState('')
  const isChosen = objectType === 'Relationship' && positions.length > 1
  return (
    <ConfirmedAction
      label={t('join')}
      kind="primary"
      question={t('joinConfirm', { name })}
      run={async () => {
        const body = {
          notes: notes.trim() || undefined,
          relationshipId: position || undefined,
          endsAt: endsAt || undefined,
        }
        const { status } = await api.create<MembershipRequestDto>(`${REQUESTS}/${id}/submit`, body)
        navigate('/me', t(status === 'Joined' ? 'joinedNamed' : 'requestedNamed', { name }))
      }}
    >
      <PolicySummary policy={joinPolicy} />
      {isChosen && (
        <Choice
          label={t('position')}
          value={position}
          options={positions.map((held) => ({ value: held.id, text: held.name }))}
          onChange={setPosition}
        />
      )}
      <TextField label={t('endOptional')} type="date" value={endsAt} onInput={setEndsAt} hint={t('untilDayHint')} />
      <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
    </ConfirmedAction>
  )
}
