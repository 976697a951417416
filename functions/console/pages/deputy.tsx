import { useState } from 'preact/hooks'
import type { DeputyDto } from '../../../shared/domain/membership-requests/manage-deputy.ts'
import { ActionButton, useDone } from '../components/actions.tsx'
import { TextField } from '../components/fields.tsx'
import { ItemPicker } from '../components/item-picker.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { dayText, t } from '../language/texts.ts'
import type { PickedItem } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { isCollectionsAdministrator, useConsole } from '../session.ts'
import { REQUESTS } from './requests.tsx'

const DEPUTY = `${REQUESTS}/deputy`

/** Who decides in the person's place, and until when. */
export function DeputySection() {
  const { api } = useConsole()
  const deputy = useResource('deputy', () => api.read<DeputyDto | null>(DEPUTY))
  const [notice, onChange] = useDone(deputy.reload)
  return (
    <Section title={t('deputy')}>
      {notice}
      <Loaded resource={deputy}>
        {(current) =>
          current === null ? (
            <DeputyForm onChange={onChange} />
          ) : (
            <div class="between">
              <p>
                {t('deputyIs', {
                  name: current.deputyName ?? t('unknown'),
                  from: dayText(current.from),
                  until: dayText(current.until),
                })}
              </p>
              <ActionButton
                run={async () => {
                  await api.send('DELETE', DEPUTY)
                  onChange(t('deputyRemoved'))
                }}
              >
                {t('removeDeputy')}
              </ActionButton>
            </div>
          )
        }
      </Loaded>
    </Section>
  )
}

function DeputyForm({ onChange }: { readonly onChange: (done: string) => void }) {
  const { api, me } = useConsole()
  const [person, setPerson] = useState<PickedItem | undefined>(undefined)
  const [until, setUntil] = useState('')
  const [from, setFrom] = useState('')
  return (
    <>
      <p class="hint">{t('deputyHint')}</p>
      <ItemPicker
        label={t('findDeputy')}
        hint={isCollectionsAdministrator(me) ? undefined : t('wholeNameHint')}
        without={me.identityId === null ? [] : [me.identityId]}
        onPick={setPerson}
      />
      {person !== undefined && (
        <>
          <p>
            <strong>{person.name}</strong> <span class="hint">{person.detail}</span>
          </p>
          <div class="leaf narrow">
            <TextField label={t('fromDay')} type="date" value={from} onInput={setFrom} hint={t('fromDayHint')} />
            <TextField label={t('untilDay')} type="date" value={until} onInput={setUntil} hint={t('untilDayHint')} />
          </div>
          <div class="actions">
            <ActionButton
              kind="primary"
              disabled={until === ''}
              run={async () => {
                const body = { deputyId: person.id, until, from: from || undefined }
                await api.send('PUT', DEPUTY, { body })
                onChange(t('deputySet', { name: person.name }))
              }}
            >
              {t('setDeputy')}
            </ActionButton>
          </div>
        </>
      )}
    </>
  )
}
