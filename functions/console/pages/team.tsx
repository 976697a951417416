import { useState } from 'preact/hooks'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { Api } from '../api.ts'
import { ActionButton, Dialog, useDone } from '../components/actions.tsx'
import { Choice, OptionalText, TextField } from '../components/fields.tsx'
import { ListSection } from '../components/list-section.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { RequestTable } from '../components/request-table.tsx'
import { CORE_OBJECTS, IDENTITIES, referenceId, textOf } from '../core-objects.ts'
import { shownTimeZone } from '../language/shown-time-zone.ts'
import { compareByLocale, t } from '../language/texts.ts'
import { ledPositions } from '../led-positions.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { RequestAction } from './request-action.tsx'
import { REQUESTS } from './requests.tsx'

type Report = {
  readonly relationshipId: string
  readonly identityId: string
  readonly name: string
  readonly title: string | undefined
}

/** The people that the person leads, and the requests on their behalf. */
export function TeamView() {
  const { api, me } = useConsole()
  const [chosen, setChosen] = useState<Report | undefined>(undefined)
  const reports = useResource('reports', () => listReports(me.identityId ?? '', api))
  const requests = useResource('requests', () => api.all<MembershipRequestDto>(`${REQUESTS}/submitted-on-behalf`))
  const [notice, onChange] = useDone(requests.reload)
  return (
    <Page title={t('team')}>
      {notice}
      <ListSection
        list={RecordList}
        title={t('reports')}
        resource={reports}
        keyOf={({ relationshipId }) => relationshipId}
        empty={t('reportsEmpty')}
        columns={[
          { head: t('name'), text: ({ name }) => name, path: ({ identityId }) => `/people/${identityId}` },
          { head: t('position'), cell: ({ title }) => <OptionalText value={title} /> },
          {
            head: t('actions'),
            cell: (report) => (
              <button type="button" onClick={() => setChosen(report)}>
                {t('askOnBehalf')}
              </button>
            ),
          },
        ]}
      />
      <Section title={t('onBehalf')}>
        <Loaded resource={requests}>
          {(all) => (
            <RequestTable
              label={t('onBehalf')}
              requests={all}
              empty={t('onBehalfEmpty')}
              parts={['requester', 'collection']}
              // Only the person can leave.
              action={(request) =>
                request.status === 'PendingApproval' && <RequestAction request={request} onChange={onChange} />
              }
            />
          )}
        </Loaded>
      </Section>
      {chosen !== undefined && (
        <OnBehalfDialog
          report={chosen}
          onClose={() => setChosen(undefined)}
          onDone={(text) => {
            setChosen(undefined)
            onChange(text)
          }}
        />
      )}
    </Page>
  )
}

type OnBehalfDialogProps = {
  readonly report: Report
  readonly onClose: () => void
  readonly onDone: (done: string) => void
}

function OnBehalfDialog({ report: { relationshipId, identityId, name }, onClose, onDone }: OnBehalfDialogProps) {
  const { api } = useConsole()
  const [collectionId, setCollectionId] = useState('')
  const [notes, setNotes] = useState('')
  const eligible = useResource(identityId, () => {
    return api.all<JoinableCollectionDto>(`${REQUESTS}/eligible/${identityId}`)
  })
  const submit = async () => {
    const body = { relationshipId, notes: notes.trim() || undefined }
    const path = `${REQUESTS}/${collectionId}/submit-on-behalf`
    const { status } = await api.create<MembershipRequestDto>(path, body)
    onDone(t(status === 'Joined' ? 'joinedOnBehalf' : 'requestedOnBehalf', { name }))
  }
  return (
    <Dialog title={t('askOnBehalfOf', { name })} hasClose onClose={onClose}>
      <Loaded resource={eligible}>
        {(all) =>
          all.length === 0 ? (
            <p>{t('onBehalfNothing')}</p>
          ) : (
            <>
              <Choice
                label={t('collection')}
                value={collectionId}
                options={all.map((collection) => ({ value: collection.id, text: collection.name }))}
                onChange={setCollectionId}
              />
              <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
              <ActionButton kind="primary" disabled={collectionId === ''} run={submit}>
                {t('askOnBehalf')}
              </ActionButton>
            </>
          )
        }
      </Loaded>
    </Dialog>
  )
}

/** The positions of others that the person leads, with names. */
async function listReports(ownId: string, api: Api): Promise<Report[]> {
  const [relationships, identities, units] = await Promise.all([
    api.all<CoreObjectDto>(`${CORE_OBJECTS}/relationships`),
    api.all<CoreObjectDto>(IDENTITIES),
    api.all<CoreObjectDto>(`${CORE_OBJECTS}/orgunits`),
  ])
  const names = new Map(identities.map(({ id, displayName }) => [id, textOf(displayName)]))
  const led = ledPositions(ownId, { relationships, identities, units }, Date.now(), shownTimeZone.value)
  const reports = led.map(({ id: relationshipId, identity, title }): Report => {
    const identityId = referenceId(identity) ?? ''
    return { relationshipId, identityId, name: names.get(identityId) ?? identityId, title: textOf(title) }
  })
  return reports.sort((left, right) => compareByLocale(left.name, right.name))
}
