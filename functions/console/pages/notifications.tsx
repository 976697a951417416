import { useState } from 'preact/hooks'
import type { NotificationsDto } from '../../../shared/domain/mail/notifications.ts'
import { ActionButton, DoneText } from '../components/actions.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { useUnsaved } from './collection-form.tsx'

const NOTIFICATIONS = '/collections/beta/me/notifications'

const CHOICES = [
  { mail: 'Immediately', name: 'mailImmediately', hint: 'mailImmediatelyHint' },
  { mail: 'Daily', name: 'mailDaily', hint: 'mailDailyHint' },
  { mail: 'None', name: 'mailNone', hint: 'mailNoneHint' },
] as const

/** When the person gets mails. */
export function NotificationsView() {
  const { api } = useConsole()
  const notifications = useResource('notifications', () => api.read<NotificationsDto>(NOTIFICATIONS))
  return (
    <Page title={t('notifications')}>
      <p class="hint">{t('notificationsHint')}</p>
      <Loaded resource={notifications}>{({ mail }) => <NotificationsForm saved={mail} />}</Loaded>
    </Page>
  )
}

type Mail = NotificationsDto['mail']

function NotificationsForm({ saved }: { readonly saved: Mail }) {
  const { api } = useConsole()
  const [base, setBase] = useState(saved)
  const [chosen, setChosen] = useState(saved)
  const [isSaved, setIsSaved] = useState(false)
  useUnsaved(chosen !== base)
  const save = async () => {
    await api.send('PUT', NOTIFICATIONS, { body: { mail: chosen } })
    setBase(chosen)
    setIsSaved(true)
  }
  return (
    <form class="narrow-form" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="options">
        <legend>{t('mails')}</legend>
        {CHOICES.map(({ mail, name, hint }) => (
          <label key={mail} class="check">
            <input
              type="radio"
              name="mail"
              checked={chosen === mail}
              onChange={() => {
                setIsSaved(false)
                setChosen(mail)
              }}
            />
            <span>
              {t(name)}
              <small class="hint">{t(hint)}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="actions">
        <ActionButton kind="primary" run={save} disabled={chosen === base}>
          {t('save')}
        </ActionButton>
      </div>
      <DoneText>{isSaved ? t('saved') : ''}</DoneText>
    </form>
  )
}
