import { useState } from 'preact/hooks'
import type { EventDelivery } from '../../../shared/domain/events/delivery.ts'
import { ActionButton, ConfirmedAction, Dialog, useDone } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { Badge } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { numberOf, t, timeOf } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import {
  SecretDialog,
  SUBSCRIPTIONS,
  type Subscription,
  SubscriptionState,
  type SubscriptionWithSecret,
} from './subscriptions.tsx'

const DELIVERIES_PER_PAGE = 100

/** One subscription: what was delivered, and what can be done about it. */
export function SubscriptionView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const path = `${SUBSCRIPTIONS}/${id}`
  const subscription = useResource(id, () => api.send<Subscription>('GET', path))
  const deliveries = usePages(`${path}/deliveries?pageSize=${DELIVERIES_PER_PAGE}`, api.page<EventDelivery>)
  const [notice, onChange] = useDone(() => {
    subscription.reload()
    deliveries.reload()
  })
  return (
    <Loaded resource={subscription}>
      {({ data, etag }) => (
        <Page
          title={data.url}
          back={{ path: '/subscriptions', text: t('subscriptions') }}
          facts={
            <>
              <SubscriptionState subscription={data} />
              <span>{data.types.join(', ')}</span>
              {data.description !== null && <span>{data.description}</span>}
            </>
          }
          actions={<Actions path={path} etag={etag} subscription={data} onChange={onChange} />}
        >
          {notice}
          <Section
            title={t('deliveries')}
            actions={
              <button type="button" onClick={() => onChange('')}>
                {t('reload')}
              </button>
            }
          >
            <Loaded resource={deliveries}>
              {(items) => <Deliveries path={path} items={items} loadMore={deliveries.loadMore} onChange={onChange} />}
            </Loaded>
          </Section>
        </Page>
      )}
    </Loaded>
  )
}

type ActionsProps = {
  readonly path: string
  readonly etag: string | undefined
  readonly subscription: Subscription
  readonly onChange: (done: string) => void
}

function Actions({ path, etag, subscription: { state, url }, onChange }: ActionsProps) {
  const { api } = useConsole()
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const change = async (next: Subscription['state']): Promise<void> => {
    await api.send('PUT', path, { body: { state: next }, ifMatch: etag })
    onChange(t(next === 'Enabled' ? 'subscriptionEnabled' : 'subscriptionDisabled'))
  }
  return (
    <>
      {state === 'Enabled' && (
        <ActionButton
          run={async () => {
            await api.send('POST', `${path}/test`, { body: {} })
            onChange(t('testSent'))
          }}
        >
          {t('sendTest')}
        </ActionButton>
      )}
      <ActionButton run={() => change(state === 'Enabled' ? 'Disabled' : 'Enabled')}>
        {t(state === 'Enabled' ? 'disable' : 'enable')}
      </ActionButton>
      <ConfirmedAction
        label={t('rotateSecret')}
        kind="primary"
        question={t('rotateSecretConfirm')}
        run={async () => {
          const { data } = await api.send<SubscriptionWithSecret>('POST', `${path}/rotate-secret`, { body: {} })
          setSecret(data.secret)
        }}
      />
      <ConfirmedAction
        label={t('deleteSubscription')}
        question={t('deleteSubscriptionConfirm', { url })}
        run={async () => {
          await api.send('DELETE', path, { ifMatch: etag })
          navigate('/subscriptions', t('deleted', { name: url }))
        }}
      />
      {secret !== undefined && (
        <SecretDialog
          secret={secret}
          onClose={() => {
            setSecret(undefined)
            onChange(t('secretRotated'))
          }}
        />
      )}
    </>
  )
}

const STATE_KIND = { Pending: 'warn', Delivered: 'good', GivenUp: 'bad', Dropped: 'bad' } as const

type DeliveriesProps = {
  readonly path: string
  readonly items: readonly EventDelivery[]
  readonly loadMore: (() => void) | undefined
  readonly onChange: (done: string) => void
}

function Deliveries({ path, items, loadMore, onChange }: DeliveriesProps) {
  const { api } = useConsole()
  const [chosen, setChosen] = useState<EventDelivery | undefined>(undefined)
  return (
    <>
      <RecordList
        label={t('deliveries')}
        items={items}
        loadMore={loadMore}
        keyOf={({ eventId }) => eventId}
        empty={t('deliveriesEmpty')}
        columns={[
          { head: t('time'), sortBy: ({ time }) => time, cell: ({ time }) => timeOf(time) },
          { head: t('eventType'), sortBy: ({ type }) => type, cell: ({ type }) => <code>{type}</code> },
          { head: t('state'), cell: ({ state }) => <Badge kind={STATE_KIND[state]}>{t(`delivery${state}`)}</Badge> },
          { head: t('attempts'), isNumber: true, cell: ({ attempts }) => numberOf(attempts.length) },
          {
            head: t('actions'),
            cell: (delivery) => (
              <div class="actions">
                <button type="button" onClick={() => setChosen(delivery)}>
                  {t('details')}
                </button>
                <ActionButton
                  run={async () => {
                    await api.send('POST', `${path}/redeliver`, { body: { eventIds: [delivery.eventId] } })
                    onChange(t('redelivered'))
                  }}
                >
                  {t('redeliver')}
                </ActionButton>
              </div>
            ),
          },
        ]}
      />
      {chosen !== undefined && <DeliveryDialog delivery={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

type DeliveryDialogProps = { readonly delivery: EventDelivery; readonly onClose: () => void }

function DeliveryDialog({ delivery: { eventId, type, attempts }, onClose }: DeliveryDialogProps) {
  return (
    <Dialog title={type} hasClose onClose={onClose}>
      <p>
        {t('eventId')} <code>{eventId}</code>
      </p>
      <CardList
        label={t('attempts')}
        items={attempts}
        keyOf={({ at }) => at}
        empty={t('attemptsEmpty')}
        columns={[
          { head: t('time'), cell: ({ at }) => timeOf(at) },
          {
            head: t('answer'),
            cell: ({ status, error }) => (error === null ? String(status ?? '') : t(`attempt${error}`)),
          },
          { head: t('durationMs'), isNumber: true, cell: ({ durationMs }) => numberOf(durationMs) },
        ]}
      />
    </Dialog>
  )
}
