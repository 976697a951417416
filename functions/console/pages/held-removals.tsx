import { useState } from 'preact/hooks'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { RemovalPlanDto } from '../../../shared/domain/group-links/removal-plan.ts'
import { ActionButton, ConfirmedAction, Done } from '../components/actions.tsx'
import { OptionalText } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

type Held = NonNullable<GroupLinkDto['heldRemovals']>
type Accounts = RemovalPlanDto['accounts']

const ACCOUNTS_PER_PAGE = 200

type HeldRemovalsSectionProps = { readonly linkId: string; readonly held: Held; readonly onApproved: () => void }

/** The removals that the guard holds, with names, and their approval. An approval is for the plan that is shown. */
export function HeldRemovalsSection({ linkId, held, onApproved }: HeldRemovalsSectionProps) {
  const { api } = useConsole()
  const [more, setMore] = useState<{ readonly accounts: Accounts; readonly nextCursor: string | undefined }>()
  const [isApproved, setApproved] = useState(false)
  const { planId, count, limit, groupSize, reason } = held
  const path = `/group-link/beta/group-links/${linkId}/removal-plan`
  const first = useResource(planId, async () => {
    const { data, nextCursor } = await api.send<RemovalPlanDto>('GET', `${path}?pageSize=${ACCOUNTS_PER_PAGE}`)
    setMore({ accounts: [], nextCursor })
    return data.accounts
  })
  const loadMore = async () => {
    const cursor = encodeURIComponent(more?.nextCursor ?? '')
    const { data, nextCursor } = await api.send<RemovalPlanDto>('GET', `${path}?nextCursor=${cursor}`)
    setMore({ accounts: [...(more?.accounts ?? []), ...data.accounts], nextCursor })
  }
  return (
    <Section
      title={t('heldRemovals')}
      actions={
        <ConfirmedAction
          label={t('approveRemovals')}
          question={t('approveRemovalsConfirm', { count })}
          run={async () => {
            await api.send('POST', `${path}/${planId}/approve`, { body: {} })
            setApproved(true)
            onApproved()
          }}
        />
      }
    >
      <p class="warning">{t(`held${reason}`, { count, limit, groupSize })}</p>
      {isApproved && <Done>{t('removalsApproved')}</Done>}
      <Loaded resource={first}>
        {(accounts) => (
          <>
            <List
              label={t('heldRemovals')}
              items={[...accounts, ...(more?.accounts ?? [])]}
              keyOf={({ directoryObjectId }) => directoryObjectId}
              empty={t('none')}
              columns={[
                { head: t('name'), cell: ({ displayName }) => <OptionalText value={displayName} /> },
                { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
              ]}
            />
            {more?.nextCursor !== undefined && <ActionButton run={loadMore}>{t('more')}</ActionButton>}
          </>
        )}
      </Loaded>
    </Section>
  )
}
