import { useState } from 'preact/hooks'
import type { AttributeTypes } from '../../../shared/domain/connectors/attribute-types.ts'
import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import { ActionButton, DoneText } from '../components/actions.tsx'
import { Choice, TextField } from '../components/fields.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useConsole } from '../session.ts'
import { useUnsaved } from './collection-form.tsx'

type Entry = AttributeTypes[number]

const OBJECT_TYPES = ['identity', 'orgUnit', 'relationship'] as const satisfies readonly Entry['objectType'][]
const CUSTOM_TYPES = [
  'String',
  'Integer',
  'Boolean',
  'DateTime',
  'StringList',
] as const satisfies readonly Entry['type'][]
export const OBJECT_TYPE_TEXT = { identity: 'onePerson', orgUnit: 'oneUnit', relationship: 'position' } as const

type AttributeTypesSectionProps = {
  /** The path of the connector in the API. */
  readonly path: string
  readonly connector: ConnectorRecord
  readonly etag: string | undefined
  /** Whether the types were saved while the page is open. */
  readonly isSaved: boolean
  readonly onSaved: () => void
}

/** The types of the source's own attributes, by which conditions compare them. */
export function AttributeTypesSection({ path, connector, etag, isSaved, onSaved }: AttributeTypesSectionProps) {
  const { api } = useConsole()
  const [entries, setEntries] = useState<readonly Entry[]>(connector.attributeTypes)
  const isEdited = JSON.stringify(entries) !== JSON.stringify(connector.attributeTypes)
  useUnsaved(isEdited)
  const save = async (): Promise<void> => {
    const attributeTypes = entries.map((entry) => ({ ...entry, name: entry.name.trim() }))
    await api.send('PUT', path, { body: { attributeTypes }, ifMatch: etag })
    onSaved()
  }
  return (
    <Section title={t('attributeTypes')}>
      <p class="hint">{t('attributeTypesHint')}</p>
      {entries.map((entry, index) => (
        <EntryFields
          key={index}
          entry={entry}
          onChange={(changed) => setEntries(entries.with(index, changed))}
          onRemove={() => setEntries(entries.toSpliced(index, 1))}
        />
      ))}
      <div class="actions">
        <button
          type="button"
          onClick={() => setEntries([...entries, { objectType: 'identity', name: '', type: 'Integer' }])}
        >
          {t('addAttributeType')}
        </button>
        <ActionButton kind="primary" disabled={entries.some(({ name }) => name.trim() === '')} run={save}>
          {t('save')}
        </ActionButton>
      </div>
      <DoneText>{isSaved && !isEdited ? t('saved') : ''}</DoneText>
    </Section>
  )
}

type EntryFieldsProps = {
  readonly entry: Entry
  readonly onChange: (entry: Entry) => void
  readonly onRemove: () => void
}

function EntryFields({ entry, onChange, onRemove }: EntryFieldsProps) {
  return (
    <div class="leaf">
      <Choice
        label={t('objects')}
        value={entry.objectType}
        options={OBJECT_TYPES.map((value) => ({ value, text: t(OBJECT_TYPE_TEXT[value]) }))}
        onChange={(objectType) => onChange({ ...entry, objectType })}
      />
      <TextField
        label={t('attribute')}
        placeholder={t('attribute')}
        value={entry.name}
        maxLength={100}
        onInput={(name) => onChange({ ...entry, name })}
      />
      <Choice
        label={t('type')}
        value={entry.type}
        options={CUSTOM_TYPES.map((value) => ({ value, text: t(`type${value}`) }))}
        onChange={(type) => onChange({ ...entry, type })}
      />
      <button type="button" class="quiet" aria-label={t('removeNamed', { name: entry.name })} onClick={onRemove}>
        {t('removeItem')}
      </button>
    </div>
  )
}
