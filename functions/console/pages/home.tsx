import type { AttentionDto } from '../../../shared/domain/insight/attention.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { attention, attentionState, dataFaultCount, loadAttention } from '../attention.ts'
import { Badge } from '../components/fields.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import type { MessageKey } from '../language/english.ts'
import { numberOf, t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { isCollectionsAdministrator, isCoreAdministrator, isPerson, useConsole } from '../session.ts'
import { DecisionList } from './decisions.tsx'
import { OwnMemberships } from './own-memberships.tsx'
import { REQUESTS } from './requests.tsx'

/** What needs attention, what waits for a decision, and what the person has, as far as it concerns them. */
export function HomeView() {
  const { me } = useConsole()
  return (
    <Page title={t('home')}>
      {(isCollectionsAdministrator(me) || isCoreAdministrator(me)) && <AttentionSection />}
      {isPerson(me) && <DecideSection />}
      {isPerson(me) && <OwnSection />}
    </Page>
  )
}

type Item = { readonly text: MessageKey; readonly count: number | null; readonly path: string }

function AttentionSection() {
  const { api } = useConsole()
  return (
    <Section title={t('needsAttention')}>
      <Loaded resource={{ ...attentionState.value, reload: () => void loadAttention(api) }}>
        {(read) => <UrgentItems read={read} />}
      </Loaded>
    </Section>
  )
}

function UrgentItems({ read }: { readonly read: AttentionDto }) {
  const items: readonly Item[] = [
    { text: 'attentionFailedLinks', count: read.failedLinks, path: '/links?show=urgent' },
    { text: 'attentionHeldRemovals', count: read.heldRemovals, path: '/links?show=urgent' },
    { text: 'attentionPausedLinks', count: read.pausedLinks, path: '/links?show=urgent' },
    { text: 'attentionLateConnectors', count: read.lateConnectors, path: '/connectors' },
    { text: 'attentionDataFaults', count: dataFaultCount(read), path: '/quality' },
  ]
  const urgent = items.filter(({ count }) => (count ?? 0) > 0)
  if (urgent.length === 0) return <Empty>{t('needsNoAttention')}</Empty>
  return (
    <ul class="tiles">
      {urgent.map(({ text, count, path }) => (
        <li key={text}>
          <a href={hrefOf(path)}>
            <span class="big">{numberOf(count ?? 0)}</span>
            <span>{t(text, { count: count ?? 0 })}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

const SHOWN_AT_MOST = 5

function DecideSection() {
  const { api } = useConsole()
  const requests = useResource('inbox', (signal) => {
    return api.page<MembershipRequestDto>(`${REQUESTS}/inbox?pageSize=${SHOWN_AT_MOST}`, signal)
  })
  const count = attention.value?.toDecide ?? 0
  return (
    <Section
      title={t('toDecide')}
      actions={count > SHOWN_AT_MOST && <a href={hrefOf('/inbox')}>{t('showAllCount', { count })}</a>}
    >
      <Loaded resource={requests}>
        {({ items }) => <DecisionList requests={items} onDecided={requests.reload} />}
      </Loaded>
    </Section>
  )
}

function OwnSection() {
  const ending = attention.value?.ending ?? 0
  return (
    <Section
      title={t('myMemberships')}
      actions={
        <>
          {ending > 0 && <Badge kind="warn">{t('endingSoonCount', { count: ending })}</Badge>}
          <a href={hrefOf('/me')}>{t('me')}</a>
        </>
      }
    >
      <OwnMemberships />
    </Section>
  )
}
