import { Choice, TextField } from '../components/fields.tsx'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'
import type { EditedLeaf } from './condition-tree.ts'
import { type FieldForm, type FieldFormName, fieldForm, fieldOf, formsOf, newForm } from './field-form.ts'

const FORM_TEXT: Readonly<Record<FieldFormName, MessageKey>> = {
  Plain: 'functionNone',
  ToUpper: 'functionToUpper',
  ToLower: 'functionToLower',
  Substring: 'functionSubstring',
  AddDays: 'functionAddDays',
  Today: 'functionToday',
  Written: 'functionWritten',
}

type FieldFunctionProps = {
  readonly leaf: EditedLeaf
  readonly type: string | undefined
  readonly onInput: (field: string) => void
}

/** The function around the attribute, with its arguments. */
export function FieldFunction({ leaf: { id, field }, type, onInput }: FieldFunctionProps) {
  const form = fieldForm(field, id)
  const names = formsOf(type)
  const offered = names.includes(form.name) ? names : [...names, form.name]
  if (offered.length === 1) return null
  const change = (changed: FieldForm) => onInput(fieldOf(changed, id))
  return (
    <>
      <Choice
        label={t('fieldFunction')}
        value={form.name}
        options={offered.map((name) => ({ value: name, text: t(FORM_TEXT[name]) }))}
        onChange={(name) => change(newForm(name, field))}
      />
      {form.name === 'Substring' && (
        <>
          <TextField
            label={t('functionStart')}
            type="number"
            value={form.start}
            onInput={(start) => change({ ...form, start })}
          />
          <TextField
            label={t('functionLength')}
            type="number"
            value={form.length}
            onInput={(length) => change({ ...form, length })}
          />
        </>
      )}
      {form.name === 'AddDays' && (
        <TextField
          label={t('functionDays')}
          type="number"
          value={form.days}
          onInput={(days) => change({ ...form, days })}
        />
      )}
      {form.name === 'Written' && (
        <TextField label={t('functionText')} value={form.text} onInput={(text) => change({ ...form, text })} />
      )}
    </>
  )
}
