import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MembershipDto } from '../../../shared/domain/insight/list-memberships.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { Api } from '../api.ts'
import { loadAttention } from '../attention.ts'
import { ConfirmedAction, useDone } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { CauseText, EndText, GroupStates } from '../components/membership-cells.tsx'
import { dayText, t } from '../language/texts.ts'
import { membershipsIn, type OwnMembership, withRequests } from '../own-membership.ts'
import { useResource } from '../resource.ts'
import { isCollectionsAdministrator, useConsole } from '../session.ts'
import { RequestAction } from './request-action.tsx'
import { REQUESTS } from './requests.tsx'

type OwnMembershipsProps = {
  /** Loads what else shows a membership. */
  readonly onChanged?: () => void
}

/** What the person has, those that end soonest first: until when, in which groups, to extend and to leave. */
export function OwnMemberships({ onChanged }: OwnMembershipsProps) {
  const { api, me } = useConsole()
  const hasDetails = me.roles.includes('User') || isCollectionsAdministrator(me)
  const memberships = useResource('own', () => readOwn(me.identityId ?? '', hasDetails, api))
  const [notice, onChange] = useDone(() => {
    memberships.reload()
    onChanged?.()
    void loadAttention(api)
  })
  const reason = { head: t('reason'), cell: (membership: OwnMembership) => <CauseText membership={membership} /> }
  const groups = {
    head: t('groups'),
    cell: ({ links }: OwnMembership) => <GroupStates links={links} isLinked={false} />,
  }
  return (
    <>
      {notice}
      <Loaded resource={memberships}>
        {(all) => (
          <CardList
            label={t('myMemberships')}
            items={all}
            keyOf={({ collectionId, relationshipId }) => `${collectionId} ${relationshipId}`}
            empty={t('myMembershipsEmpty')}
            columns={[
              { head: t('name'), text: ({ collectionName }) => collectionName },
              ...(hasDetails ? [reason] : []),
              { head: t('until'), sortBy: ({ endsAt }) => endsAt, cell: (membership) => <EndText {...membership} /> },
              ...(hasDetails ? [groups] : []),
              {
                head: t('actions'),
                cell: ({ request }) =>
                  request !== undefined && (
                    <div class="actions">
                      {request.endsAt !== null && <ExtendAction request={request} onChange={onChange} />}
                      <RequestAction request={request} onChange={onChange} />
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  )
}

async function readOwn(identityId: string, hasDetails: boolean, api: Api): Promise<readonly OwnMembership[]> {
  const joined = api.all<MembershipRequestDto>(`${REQUESTS}/mine?status=Joined`)
  if (hasDetails) {
    const memberships = api.all<MembershipDto>(`/collections/beta/memberships?identityId=${identityId}`)
    return withRequests(...(await Promise.all([memberships, joined])))
  }
  return membershipsIn(...(await Promise.all([api.all<CollectionDto>('/collections/beta/member-of'), joined])))
}

type ExtendActionProps = {
  readonly request: MembershipRequestDto
  readonly onChange: (done: string) => void
}

/** Asks for a later end of a membership. */
function ExtendAction({ request, onChange }: ExtendActionProps) {
  const { api } = useConsole()
  const { id, collectionId, endsAt, extension } = request
  const [day, setDay] = useState('')
  const [notes, setNotes] = useState('')
  const name = request.collectionName ?? ''
  if (extension !== null) return <span class="hint">{t('extensionWaits', { day: dayText(extension.endsAt) })}</span>
  return (
    <ConfirmedAction
      label={t('extend')}
      kind="primary"
      question={t('extendConfirm', { name, day: endsAt === null ? '' : dayText(endsAt) })}
      isReady={day !== ''}
      run={async () => {
        const body = { endsAt: day, notes: notes.trim() || undefined }
        const path = `${REQUESTS}/${collectionId}/${id}/extend`
        const { data } = await api.send<MembershipRequestDto>('POST', path, { body })
        onChange(
          data.extension === null
            ? t('extendedNamed', { name, day: dayText(data.endsAt ?? day) })
            : t('extensionRequested', { name }),
        )
      }}
    >
      <TextField label={t('newEnd')} type="date" value={day} onInput={setDay} required hint={t('untilDayHint')} />
      <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
    </ConfirmedAction>
  )
}
