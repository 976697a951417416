import type { WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { MEMBER_OF_COLLECTION } from '../../../shared/domain/criteria/schema.ts'
import { Choice, TextField } from '../components/fields.tsx'
import { ItemPicker, PickedItems } from '../components/item-picker.tsx'
import { t } from '../language/texts.ts'
import type { ConditionChoices } from './condition-choices.ts'
import type { EditedLeaf } from './condition-tree.ts'
import { type DayForm, dayForm, dayValue } from './field-form.ts'

type ValueFieldProps = {
  readonly leaf: EditedLeaf
  readonly type: string | undefined
  readonly choices: ConditionChoices
  readonly onInput: (value: WireLeaf['value']) => void
}

/** The value of a leaf: as the attribute's type and the operator need it. */
export function ValueField({ leaf: { id, operator, value }, type, choices, onInput }: ValueFieldProps) {
  if (operator === 'In') {
    if (id === MEMBER_OF_COLLECTION) return <CollectionsField value={value} choices={choices} onInput={onInput} />
    const lines = value === undefined ? '' : [value].flat().join('\n')
    return (
      <TextField
        label={t('valuesOnePerLine')}
        multiline
        value={lines}
        onInput={(text) => onInput(text === '' ? undefined : text.split('\n'))}
      />
    )
  }
  const single = value === undefined ? '' : String(value)
  if (id === MEMBER_OF_COLLECTION) {
    const known = choices.collections.map((one) => ({ value: one.id, text: one.name }))
    const options = single === '' || known.some((one) => one.value === single) ? known : [...known, unnamed(single)]
    return <Choice label={t('collection')} value={single} options={options} onChange={onInput} />
  }
  if (type === 'Boolean') {
    const options = [
      { value: 'true', text: t('yes') },
      { value: 'false', text: t('no') },
    ]
    return <Choice label={t('value')} value={single} options={options} onChange={onInput} />
  }
  if (type === 'DateTime') return <DayField text={single} onInput={onInput} />
  return <TextField label={t('value')} value={single} onInput={onInput} hint={hintOf(type)} />
}

const unnamed = (id: string) => ({ value: id, text: id })

function hintOf(type: string | undefined): string | undefined {
  if (type === 'Guid') return t('valueGuid')
  return type === 'Integer' ? t('valueInteger') : undefined
}

type DayFieldProps = { readonly text: string; readonly onInput: (text: string) => void }

/** A day, a number of days from today, or a text such as a time of day. */
function DayField({ text, onInput }: DayFieldProps) {
  const form = dayForm(text)
  const options = [
    { value: 'Day', text: t('dayOfCalendar') },
    { value: 'FromToday', text: t('dayFromToday') },
    { value: 'Written', text: t('dayWritten') },
  ] as const
  const choose = (name: DayForm['name']) => {
    if (name === 'Day') onInput('')
    else onInput(name === 'FromToday' ? 'Today()' : `${new Date().toISOString().slice(0, 10)}T12:00:00Z`)
  }
  return (
    <>
      <Choice label={t('valueKind')} value={form.name} options={options} onChange={choose} />
      {form.name === 'Day' && <TextField label={t('value')} type="date" value={form.day} onInput={onInput} />}
      {form.name === 'FromToday' && (
        <TextField
          label={t('value')}
          type="number"
          value={form.days}
          hint={t('dayFromTodayHint')}
          onInput={(days) => onInput(dayValue({ name: 'FromToday', days }))}
        />
      )}
      {form.name === 'Written' && <TextField label={t('value')} value={form.text} onInput={onInput} />}
    </>
  )
}

type CollectionsFieldProps = Pick<ValueFieldProps, 'choices' | 'onInput'> & { readonly value: WireLeaf['value'] }

function CollectionsField({ value, choices, onInput }: CollectionsFieldProps) {
  const ids = value === undefined ? [] : [value].flat().map(String)
  const nameOf = new Map(choices.collections.map(({ id, name }) => [id, name]))
  return (
    <div>
      <PickedItems
        items={ids.map((id) => ({ id, name: nameOf.get(id) ?? id }))}
        onChange={(items) => onInput(items.length === 0 ? undefined : items.map(({ id }) => id))}
      />
      <ItemPicker
        label={t('addCollection')}
        without={ids}
        search={async (text) =>
          choices.collections.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())).slice(0, 20)
        }
        onPick={({ id }) => onInput([...ids, id])}
      />
    </div>
  )
}
