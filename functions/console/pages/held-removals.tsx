import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { RemovalPlanDto } from '../../../shared/domain/group-links/removal-plan.ts'
import { ConfirmedAction } from '../components/actions.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { actorName, namesOf } from '../object-names.ts'
import { usePages, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

type Held = NonNullable<GroupLinkDto['heldRemovals']>

const ACCOUNTS_PER_PAGE = 500

type HeldRemovalsSectionProps = {
  readonly linkId: string
  readonly held: Held
  readonly onDecided: (done: string) => void
}

/** The removals that the guard holds, with names and cause. A decision is for the plan that is shown. */
export function HeldRemovalsSection({ linkId, held, onDecided }: HeldRemovalsSectionProps) {
  const { api } = useConsole()
  const { planId, count, limit, groupSize, reason } = held
  const path = `/group-link/beta/group-links/${linkId}/removal-plan`
  const accounts = usePages(`${path}?pageSize=${ACCOUNTS_PER_PAGE}`, async (page, signal) => {
    const { data, nextCursor } = await api.send<RemovalPlanDto>('GET', page, { signal })
    return { items: data.accounts, nextCursor }
  })
  return (
    <Section
      title={t('heldRemovals')}
      actions={
        <>
          {held.rejectedAt === null && (
            <ConfirmedAction
              label={t('rejectRemovals')}
              question={t('rejectRemovalsConfirm')}
              kind="primary"
              run={async () => {
                await api.send('POST', `${path}/${planId}/reject`, { body: {} })
                onDecided(t('removalsRejected'))
              }}
            />
          )}
          <ConfirmedAction
            label={t('approveRemovals')}
            question={t('approveRemovalsConfirm', { count })}
            run={async () => {
              await api.send('POST', `${path}/${planId}/approve`, { body: {} })
              onDecided(t('removalsApproved'))
            }}
          />
        </>
      }
    >
      <div class="notice warn">
        <p>{t(`held${reason}`, { count, limit, groupSize })}</p>
        <HeldFacts held={held} />
      </div>
      <Loaded resource={accounts}>
        {(items) => (
          <LongList
            key={planId}
            label={t('heldRemovals')}
            items={items}
            loadMore={accounts.loadMore}
            keyOf={({ directoryObjectId }) => directoryObjectId}
            empty={t('none')}
            columns={[
              {
                head: t('name'),
                cell: ({ displayName }) => displayName ?? <span class="faint">{t('accountWithoutPerson')}</span>,
              },
              { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** What is behind the removals, and who rejected them. */
function HeldFacts({ held: { planId, cause, rejectedBy, rejectedAt } }: { readonly held: Held }) {
  const { api } = useConsole()
  const ids = [cause?.actorId, rejectedBy].filter((id) => typeof id === 'string')
  const names = useResource(`${planId} ${ids.join()}`, (signal) => namesOf(api, 'Identity', ids, signal))
  const nameOf = (id: string) => actorName(id, names.value ?? new Map())
  return (
    <>
      {cause !== null && (
        <p title={t('heldCauseTitle')}>
          {t('heldCause', { cause: t(`cause${cause.kind}`), name: nameOf(cause.actorId), time: timeOf(cause.at) })}
        </p>
      )}
      {rejectedBy !== null && rejectedAt !== null && (
        <p>{t('heldRejected', { name: nameOf(rejectedBy), time: timeOf(rejectedAt) })}</p>
      )}
    </>
  )
}
