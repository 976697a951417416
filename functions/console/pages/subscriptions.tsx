import { useState } from 'preact/hooks'
import type { Static } from 'typebox'
import type { EventSubscription, EventSubscriptionWithSecret } from '../../../shared/domain/events/subscription.ts'
import { ActionButton, Dialog } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { Copyable } from '../components/delivery-help.tsx'
import { Badge, Check, OptionalText, TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'

export type Subscription = Static<typeof EventSubscription>
export type SubscriptionWithSecret = Static<typeof EventSubscriptionWithSecret>

export const SUBSCRIPTIONS = '/collections/beta/event-subscriptions'

/** The addresses that get events. */
export function SubscriptionsView() {
  const { api } = useConsole()
  const subscriptions = useResource('subscriptions', () => api.all<Subscription>(SUBSCRIPTIONS))
  return (
    <Page
      title={t('subscriptions')}
      actions={
        <a class="button primary" href={hrefOf('/subscriptions/new')}>
          {t('newSubscription')}
        </a>
      }
    >
      <Loaded resource={subscriptions}>
        {(all) => (
          <CardList
            label={t('subscriptions')}
            items={all}
            keyOf={({ id }) => id}
            empty={t('subscriptionsEmpty')}
            sortParameter="sort"
            columns={[
              { head: t('address'), text: ({ url }) => url, path: ({ id }) => `/subscriptions/${id}` },
              { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
              { head: t('eventTypes'), cell: ({ types }) => types.join(', ') },
              { head: t('state'), cell: (subscription) => <SubscriptionState subscription={subscription} /> },
              { head: t('created'), sortBy: ({ createdAt }) => createdAt, cell: ({ createdAt }) => timeOf(createdAt) },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

export function SubscriptionState({
  subscription: { state, disabledReason },
}: {
  readonly subscription: Pick<Subscription, 'state' | 'disabledReason'>
}) {
  return (
    <>
      <Badge kind={state === 'Enabled' ? 'good' : 'bad'}>{t(state)}</Badge>
      {disabledReason !== null && <div class="hint">{t(`disabled${disabledReason}`)}</div>}
    </>
  )
}

/** Events of interest to programs, each with the beginning of its types. */
const TYPE_GROUPS = ['member', 'collection', 'request', 'link', 'removals'] as const

/** Adds an address that gets events. Its secret is shown once. */
export function NewSubscriptionView() {
  const { api } = useConsole()
  const [url, setUrl] = useState('https://')
  const [description, setDescription] = useState('')
  const [types, setTypes] = useState<readonly string[]>(['member'])
  const [created, setCreated] = useState<SubscriptionWithSecret | undefined>(undefined)
  const create = async (): Promise<void> => {
    const body = {
      url: url.trim(),
      types: types.map((type) => `${type}*`),
      description: description.trim() || undefined,
    }
    setCreated(await api.create<SubscriptionWithSecret>(SUBSCRIPTIONS, body))
  }
  return (
    <Page title={t('newSubscription')} back={{ path: '/subscriptions', text: t('subscriptions') }}>
      <Section title={t('general')}>
        <div class="narrow picked">
          <TextField
            label={t('address')}
            value={url}
            onInput={setUrl}
            required
            maxLength={2048}
            hint={t('addressHint')}
          />
          <TextField label={t('description')} value={description} onInput={setDescription} maxLength={1000} />
          <fieldset class="gate">
            <legend>{t('eventTypes')}</legend>
            {TYPE_GROUPS.map((type) => (
              <Check
                key={type}
                label={t(`events_${type}`)}
                isChecked={types.includes(type)}
                onChange={(isChecked) =>
                  setTypes(isChecked ? [...types, type] : types.filter((chosen) => chosen !== type))
                }
              />
            ))}
          </fieldset>
        </div>
        <div class="actions">
          <ActionButton kind="primary" disabled={types.length === 0} run={create}>
            {t('newSubscription')}
          </ActionButton>
        </div>
      </Section>
      {created !== undefined && (
        <SecretDialog secret={created.secret} onClose={() => navigate(`/subscriptions/${created.id}`)} />
      )}
    </Page>
  )
}

type SecretDialogProps = { readonly secret: string; readonly onClose: () => void }

export function SecretDialog({ secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title={t('secret')} hasClose onClose={onClose}>
      <p>{t('secretOnce')}</p>
      <Copyable text={secret} />
    </Dialog>
  )
}
