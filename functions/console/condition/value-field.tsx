import { useState } from 'preact/hooks'
import type { WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { takesList } from '../../../shared/domain/criteria/operators-of-types.ts'
import { Choice, TextField } from '../components/fields.tsx'
import { t } from '../language/texts.ts'
import { AttributeField } from './attribute-field.tsx'
import type { ConditionChoices } from './condition-choices.ts'
import { type EditedLeaf, isOperand } from './condition-tree.ts'
import { type DayForm, dayForm, dayValue, listText, listValues } from './field-form.ts'
import { operandTypes } from './leaf-changes.ts'
import { ObjectField } from './object-field.tsx'
import { referredType } from './referred-objects.ts'
import { TextValueField } from './text-value-field.tsx'

type ValueFieldProps = {
  readonly leaf: EditedLeaf
  readonly type: string | undefined
  readonly choices: ConditionChoices
  readonly onInput: (value: WireLeaf['value']) => void
}

/** The value of a leaf: as the attribute's type and the operator need it. */
export function ValueField({ leaf, type, choices, onInput }: ValueFieldProps) {
  const { id, operator, value } = leaf
  const [written, setWritten] = useState<string | undefined>(undefined)
  if (isOperand(value)) {
    const allowed = operandTypes({ ...leaf, field: id }, type)
    const types = Object.entries(choices.types).filter(([name, type]) => name !== id && allowed.includes(type))
    return (
      <AttributeField
        label={t('otherAttribute')}
        value={value.attribute}
        types={Object.fromEntries(types)}
        onInput={(attribute) => onInput({ attribute })}
      />
    )
  }
  const isList = takesList(operator)
  const referred = referredType(id)
  if (referred !== undefined) {
    return (
      <ObjectField key={referred} type={referred} value={value} isList={isList} choices={choices} onInput={onInput} />
    )
  }
  const text = listText(value === undefined ? [] : [value].flat(), isList ? written : undefined)
  const change = (next: string) => {
    setWritten(next)
    onInput(isList ? listValues(next) : next)
  }
  // The same component while the attribute is being typed: the field keeps the focus.
  if (type === 'String' || type === 'StringList' || type === undefined) {
    return (
      <TextValueField
        attribute={type === 'String' ? id : ''}
        operator={leaf.field === id ? operator : undefined}
        isList={isList}
        text={text}
        onInput={change}
      />
    )
  }
  if (isList) return <TextField label={t('valuesOnePerLine')} multiline value={text} onInput={change} />
  if (type === 'Boolean') {
    const options = [
      { value: 'true', text: t('yes') },
      { value: 'false', text: t('no') },
    ]
    return <Choice label={t('value')} value={text} options={options} onChange={onInput} />
  }
  if (type === 'DateTime') return <DayField text={text} onInput={onInput} />
  return <TextField label={t('value')} value={text} onInput={onInput} hint={hintOf(type)} />
}

function hintOf(type: string | undefined): string | undefined {
  if (type === 'Guid' || type === 'List') return t('valueGuid')
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
