import { useState } from 'preact/hooks'
import type { LinkSettingsChange, LinkSettingsDto } from '../../../shared/domain/group-links/link-settings.ts'
import { ActionButton, DoneText } from '../components/actions.tsx'
import { ConflictNotice, differencesOf } from '../components/conflict.tsx'
import { Check, Choice, TextField } from '../components/fields.tsx'
import { isStale, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { shownTimeZone } from '../language/shown-time-zone.ts'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { AuditSection } from './audit.tsx'
import { useUnsaved } from './collection-form.tsx'

const SETTINGS = '/group-link/beta/settings'

const TIME_ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]

/** Each in itself. */
const LANGUAGES = [
  { value: 'en', text: 'English' },
  { value: 'no', text: 'Norsk' },
] as const

/** What is typed. */
type Form = {
  readonly linkableGroups: LinkSettingsDto['linkableGroups']
  readonly isEnabled: boolean
  readonly percent: string
  readonly minimum: string
  readonly isFourEyes: boolean
  readonly timeZone: string
  /** Mail addresses, one on each line. */
  readonly operators: string
  readonly language: LinkSettingsDto['language']
}

type Stored = { readonly data: LinkSettingsDto; readonly etag: string | undefined }

/** The settings of the tenant: what protects its groups, its time zone and its mails. */
export function SettingsView() {
  const { api } = useConsole()
  const settings = useResource('settings', (): Promise<Stored> => api.send<LinkSettingsDto>('GET', SETTINGS))
  return (
    <Page
      title={t('settings')}
      facts={settings.value?.data.updatedAt && t('changedAt', { time: timeOf(settings.value.data.updatedAt) })}
    >
      <Loaded resource={settings}>
        {(stored) => (
          <>
            <SettingsForm start={stored} onSaved={settings.reload} />
            <AuditSection key={stored.etag} path={`${SETTINGS}/audit`} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

type SettingsFormProps = { readonly start: Stored; readonly onSaved: () => void }

function SettingsForm({ start, onSaved }: SettingsFormProps) {
  const { api } = useConsole()
  const [base, setBase] = useState(start)
  const [form, setForm] = useState(() => formOf(start))
  const [theirs, setTheirs] = useState<Stored | undefined>(undefined)
  const [isSaved, setSaved] = useState(false)
  const { linkableGroups, isEnabled, percent, minimum, isFourEyes, timeZone, operators, language } = form
  useUnsaved(JSON.stringify(form) !== JSON.stringify(formOf(base)))
  const change = (changed: Partial<Form>) => {
    setSaved(false)
    setForm({ ...form, ...changed })
  }
  const save = async () => {
    try {
      await api.send('PATCH', SETTINGS, { body: changeOf(form, base.data), ifMatch: base.etag })
      const stored = await api.send<LinkSettingsDto>('GET', SETTINGS)
      setBase(stored)
      setForm(formOf(stored))
      setSaved(true)
      shownTimeZone.value = stored.data.timeZone
      onSaved()
    } catch (error) {
      if (!isStale(error)) throw error
      setTheirs(await api.send<LinkSettingsDto>('GET', SETTINGS))
    }
  }
  const decide = (next: Form) => {
    if (theirs !== undefined) setBase(theirs)
    setForm(next)
    setTheirs(undefined)
  }
  return (
    <form class="narrow-form" onSubmit={(event) => event.preventDefault()}>
      <Section title={t('linkableGroups')}>
        <Choice
          label={t('linkableGroups')}
          isLabelHidden
          value={linkableGroups}
          options={(['Any', 'Owned'] as const).map((value) => ({ value, text: t(value) }))}
          onChange={(value) => change({ linkableGroups: value })}
        />
        <p class="hint">{t('linkableGroupsHint')}</p>
      </Section>
      <Section title={t('removalGuard')}>
        <p class="hint">{t('removalGuardHint')}</p>
        <Check
          label={t('guardEnabled')}
          isChecked={isEnabled}
          onChange={(isChecked) => change({ isEnabled: isChecked })}
        />
        <div class="narrow picked">
          <TextField
            label={t('guardPercent')}
            type="number"
            value={percent}
            onInput={(value) => change({ percent: value })}
            required
          />
          <TextField
            label={t('guardMinimum')}
            type="number"
            value={minimum}
            onInput={(value) => change({ minimum: value })}
            required
          />
        </div>
        <Check
          label={t('guardFourEyes')}
          isChecked={isFourEyes}
          onChange={(isChecked) => change({ isFourEyes: isChecked })}
        />
      </Section>
      <Section title={t('timeZone')}>
        <TextField
          label={t('timeZone')}
          value={timeZone}
          onInput={(value) => change({ timeZone: value })}
          list="time-zones"
          maxLength={64}
          required
          hint={t('timeZoneHint')}
        />
        <datalist id="time-zones">
          {TIME_ZONES.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </Section>
      <Section title={t('mails')}>
        <TextField
          label={t('operators')}
          value={operators}
          onInput={(value) => change({ operators: value })}
          multiline
          hint={t('operatorsHint')}
        />
        <Choice
          label={t('mailLanguage')}
          value={language}
          options={LANGUAGES}
          onChange={(value) => change({ language: value })}
        />
        <p class="hint">{t('mailLanguageHint')}</p>
      </Section>
      {theirs !== undefined && (
        <ConflictNotice
          differences={differences(form, formOf(theirs))}
          onKeepMine={() => decide(form)}
          onTakeTheirs={() => decide(formOf(theirs))}
        />
      )}
      <div class="actions">
        <ActionButton kind="primary" run={save} disabled={theirs !== undefined}>
          {t('save')}
        </ActionButton>
      </div>
      <DoneText>{isSaved ? t('saved') : ''}</DoneText>
    </form>
  )
}

function formOf({ data: { linkableGroups, removalGuard, timeZone, operators, language } }: Stored): Form {
  const { enabled, percent, minimum, fourEyes } = removalGuard
  const limits = { percent: String(percent), minimum: String(minimum) }
  const mails = { operators: operators.join('\n'), language }
  return { linkableGroups, isEnabled: enabled, ...limits, isFourEyes: fourEyes, timeZone, ...mails }
}

/** The time zone is sent when it has changed: each one sent evaluates all collections. */
function changeOf(form: Form, before: LinkSettingsDto): LinkSettingsChange {
  const { linkableGroups, isEnabled, percent, minimum, isFourEyes, timeZone, operators, language } = form
  const limits = { percent: Number(percent), minimum: Number(minimum) }
  return {
    linkableGroups,
    removalGuard: { enabled: isEnabled, ...limits, fourEyes: isFourEyes },
    ...(timeZone.trim() === before.timeZone ? {} : { timeZone: timeZone.trim() }),
    operators: operators.split(/[\s,;]+/).filter((address) => address !== ''),
    language,
  }
}

function differences(mine: Form, theirs: Form) {
  return differencesOf([
    { head: t('linkableGroups'), mine: t(mine.linkableGroups), theirs: t(theirs.linkableGroups) },
    { head: t('guardEnabled'), mine: yesOrNo(mine.isEnabled), theirs: yesOrNo(theirs.isEnabled) },
    { head: t('guardPercent'), mine: mine.percent, theirs: theirs.percent },
    { head: t('guardMinimum'), mine: mine.minimum, theirs: theirs.minimum },
    { head: t('guardFourEyes'), mine: yesOrNo(mine.isFourEyes), theirs: yesOrNo(theirs.isFourEyes) },
    { head: t('timeZone'), mine: mine.timeZone, theirs: theirs.timeZone },
    { head: t('operators'), mine: mine.operators, theirs: theirs.operators },
    { head: t('mailLanguage'), mine: languageName(mine.language), theirs: languageName(theirs.language) },
  ])
}

const languageName = (code: Form['language']): string => LANGUAGES.find(({ value }) => value === code)?.text ?? code

const yesOrNo = (value: boolean): string => (value ? t('yes') : t('no'))
