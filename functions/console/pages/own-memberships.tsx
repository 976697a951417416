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
import { useResource } from '../resource.ts'
import { isCollectionsAdministrator, useConsole } from '../session.ts'
import { RequestAction } from './request-action.tsx'
import { REQUESTS } from './requests.tsx'

type OwnMembership = MembershipDto & {
  /** The request that led to the membership; undefined where a condition did. */
  readonly request: MembershipRequestDto | undefined
}

/** What the person has, those that end soonest first: until when, in which groups, to extend and to leave. */
export function OwnMemberships() {
  const console = useConsole()
  const { api } = console
  const memberships = useResource('own', () => readOwn(console.me.identityId ?? '', mayList(console.me), api))
  const [notice, onChange] = useDone(() => {
    memberships.reload()
    void loadAttention(api)
  })
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
              { head: t('reason'), cell: (membership) => <CauseText membership={membership} /> },
              { head: t('until'), sortBy: ({ endsAt }) => endsAt, cell: (membership) => <EndText {...membership} /> },
              { head: t('groups'), cell: ({ links }) => <GroupStates links={links} isLinked={false} /> },
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

type Me = Parameters<typeof isCollectionsAdministrator>[0]

const mayList = (me: Me): boolean => me.roles.includes('User') || isCollectionsAdministrator(me)

async function readOwn(identityId: string, isListed: boolean, api: Api): Promise<readonly OwnMembership[]> {
  const [memberships, requests] = await Promise.all([
    isListed
      ? api.all<MembershipDto>(`/collections/beta/memberships?identityId=${identityId}`)
      : api.all<CollectionDto>('/collections/beta/member-of').then((all) => all.map(withoutDetails)),
    api.all<MembershipRequestDto>(`${REQUESTS}/mine?status=Joined`),
  ])
  return memberships
    .map((membership) => ({
      ...membership,
      request: requests.find(
        ({ collectionId, relationshipId }) =>
          collectionId === membership.collectionId &&
          (membership.relationshipId === null || relationshipId === membership.relationshipId),
      ),
    }))
    .sort((left, right) => (left.endsAt ?? LAST).localeCompare(right.endsAt ?? LAST))
}

/** After all timestamps. */
const LAST = '~'

/** For those whose roles do not include the details of memberships. */
function withoutDetails({ id, name, objectType }: CollectionDto): MembershipDto {
  return {
    collectionId: id,
    collectionName: name,
    objectType,
    relationshipId: null,
    since: null,
    cause: null,
    actorId: null,
    endsAt: null,
    links: [],
  }
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
      <TextField label={t('newEnd')} type="date" value={day} onInput={setDay} required />
      <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
    </ConfirmedAction>
  )
}
