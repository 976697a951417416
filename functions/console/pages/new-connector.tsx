import { useState } from 'preact/hooks'
import { ActionButton } from '../components/actions.tsx'
import { Choice, TextField } from '../components/fields.tsx'
import { Page, Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { CONNECTORS } from './connectors.tsx'

const AUTHORITIES = ['Full', 'Supplement'] as const

/** Adds a source of people. Its page then has what is needed to send data. */
export function NewConnectorView() {
  const { api } = useConsole()
  const [name, setName] = useState('')
  const [clientId, setClientId] = useState('')
  const [hours, setHours] = useState('')
  const [authority, setAuthority] = useState<(typeof AUTHORITIES)[number]>('Full')
  const create = async (): Promise<void> => {
    const body = {
      name: name.trim(),
      clientId: clientId.trim().toLowerCase(),
      authority,
      expectedIntervalHours: hours === '' ? undefined : Number(hours),
    }
    const id = await api.create<string>(CONNECTORS, body)
    navigate(`/connectors/${id}`, t('sourceAdded', { name: body.name }))
  }
  return (
    <Page title={t('addSource')} back={{ path: '/connectors', text: t('connectors') }}>
      <Section title={t('general')}>
        <div class="narrow picked">
          <TextField label={t('name')} value={name} onInput={setName} required maxLength={256} />
          <TextField label={t('client')} value={clientId} onInput={setClientId} required hint={t('clientHint')} />
          <Choice
            label={t('authority')}
            value={authority}
            options={AUTHORITIES.map((value) => ({ value, text: t(`authority${value}`) }))}
            onChange={setAuthority}
          />
          <TextField
            label={t('expectedIntervalHours')}
            type="number"
            value={hours}
            onInput={setHours}
            hint={t('expectedIntervalHint')}
          />
        </div>
        <div class="actions">
          <ActionButton kind="primary" disabled={name.trim() === '' || clientId.trim() === ''} run={create}>
            {t('addSource')}
          </ActionButton>
        </div>
      </Section>
    </Page>
  )
}
