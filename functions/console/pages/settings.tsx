import { useState } from 'preact/hooks'
import type { LinkSettingsDto } from '../../../shared/domain/group-links/link-settings.ts'
import { ActionButton, Done } from '../components/actions.tsx'
import { Choice, TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

const SETTINGS = '/group-link/beta/settings'

/** The settings that protect the groups of the tenant. */
export function SettingsView() {
  const { api } = useConsole()
  const settings = useResource('settings', () => api.send<LinkSettingsDto>('GET', SETTINGS))
  return (
    <Page title={t('settings')}>
      <Loaded resource={settings}>
        {({ data, etag }) => <SettingsForm key={etag} settings={data} etag={etag} onSaved={settings.reload} />}
      </Loaded>
    </Page>
  )
}

type SettingsFormProps = {
  readonly settings: LinkSettingsDto
  readonly etag: string | undefined
  readonly onSaved: () => void
}

function SettingsForm({ settings, etag, onSaved }: SettingsFormProps) {
  const { api } = useConsole()
  const [linkableGroups, setLinkableGroups] = useState(settings.linkableGroups)
  const [isEnabled, setEnabled] = useState(settings.removalGuard.enabled)
  const [percent, setPercent] = useState(String(settings.removalGuard.percent))
  const [minimum, setMinimum] = useState(String(settings.removalGuard.minimum))
  const [isSaved, setSaved] = useState(false)
  const save = async () => {
    const removalGuard = { enabled: isEnabled, percent: Number(percent), minimum: Number(minimum) }
    await api.send('PATCH', SETTINGS, { body: { linkableGroups, removalGuard }, ifMatch: etag })
    setSaved(true)
    onSaved()
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Choice
        label={t('linkableGroups')}
        value={linkableGroups}
        options={(['Any', 'Owned'] as const).map((value) => ({ value, text: t(value) }))}
        onChange={setLinkableGroups}
      />
      <Section title={t('removalGuard')}>
        <label>
          <input type="checkbox" checked={isEnabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />{' '}
          {t('guardEnabled')}
        </label>
        <TextField label={t('guardPercent')} value={percent} onInput={setPercent} required />
        <TextField label={t('guardMinimum')} value={minimum} onInput={setMinimum} required />
      </Section>
      <div class="actions">
        <ActionButton kind="primary" run={save}>
          {t('save')}
        </ActionButton>
      </div>
      {isSaved && <Done>{t('saved')}</Done>}
    </form>
  )
}
