import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { RemovalPlanDto } from '../../../shared/domain/group-links/removal-plan.ts'
import { ConfirmedAction } from '../components/actions.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { usePages } from '../resource.ts'
import { useConsole } from '../session.ts'

type Held = NonNullable<GroupLinkDto['heldRemovals']>

const ACCOUNTS_PER_PAGE = 500

type HeldRemovalsSectionProps = {
  readonly linkId: string
  readonly held: Held
  readonly onApproved: (done: string) => void
}

/** The removals that the guard holds, with names, and their approval. An approval is for the plan that is shown. */
export function HeldRemovalsSection({ linkId, held, onApproved }: HeldRemovalsSectionProps) {
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
        <ConfirmedAction
          label={t('approveRemovals')}
          question={t('approveRemovalsConfirm', { count })}
          run={async () => {
            await api.send('POST', `${path}/${planId}/approve`, { body: {} })
            onApproved(t('removalsApproved'))
          }}
        />
      }
    >
      <div class="notice warn">
        <p>{t(`held${reason}`, { count, limit, groupSize })}</p>
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
