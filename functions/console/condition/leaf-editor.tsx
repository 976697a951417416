import { Component } from 'preact'
import { OPERATORS, type Operator } from '../../../shared/domain/criteria/condition.ts'
import type { ApiFault } from '../api.ts'
import { Choice, TextField } from '../components/fields.tsx'
import { Fault } from '../components/loaded.tsx'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'
import { attributeText } from './attribute-text.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { operatorText } from './condition-text.tsx'
import type { EditedLeaf } from './condition-tree.ts'
import { type FieldForm, type FieldFormName, fieldForm, fieldOf, formsOf, newForm } from './field-form.ts'
import { allowedOperators, isType, withAttribute, withOperator } from './leaf-changes.ts'
import { ValueField } from './value-field.tsx'

/** The `datalist` of all attributes: one for all leaves. */
export const ATTRIBUTE_LIST_ID = 'attributes'

type LeafEditorProps = {
  readonly leaf: EditedLeaf
  readonly choices: ConditionChoices
  readonly faults: readonly ApiFault[]
  readonly onChange: (leaf: EditedLeaf) => void
}

/** Edits one leaf. In a long condition, only the leaf that changes is rendered again. */
export class LeafEditor extends Component<LeafEditorProps> {
  override shouldComponentUpdate(next: LeafEditorProps): boolean {
    const { leaf, choices, faults } = this.props
    // A new `onChange` has new siblings, so that it must be kept; it does not change what is shown.
    this.#onChange = next.onChange
    return leaf !== next.leaf || choices !== next.choices || faults.length + next.faults.length > 0
  }

  #onChange = this.props.onChange

  override render() {
    const { leaf, choices, faults } = this.props
    const type = choices.types[leaf.id]
    const change = (changed: Partial<EditedLeaf>) => this.#onChange({ ...leaf, ...changed })
    return (
      <div class="leaf">
        <label class="field">
          <span>{t('attribute')}</span>
          <input
            type="text"
            list={ATTRIBUTE_LIST_ID}
            value={leaf.id}
            autocomplete="off"
            placeholder={t('chooseAttribute')}
            onInput={({ currentTarget: { value } }) => {
              change(withAttribute(leaf, attributeNamed(value, choices.types) ?? value, choices.types))
            }}
          />
          {type !== undefined && (
            <small>
              {attributeText(leaf.id)} · {typeText(type)}
            </small>
          )}
        </label>
        <Choice
          label={t('operator')}
          value={leaf.operator}
          options={operatorsOf(leaf, type).map((operator) => ({
            value: operator,
            text: operatorText(operator, leaf.id, type),
          }))}
          onChange={(operator) => change(withOperator(leaf, operator))}
        />
        {leaf.operator !== 'IsNull' && (
          <ValueField leaf={leaf} type={type} choices={choices} onInput={(value) => change({ value })} />
        )}
        <FieldFunction leaf={leaf} type={type} onInput={(field) => change({ field })} />
        {faults.map((fault) => (
          <div key={fault.message} class="fault" role="alert">
            <Fault fault={fault} />
          </div>
        ))}
      </div>
    )
  }
}

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
function FieldFunction({ leaf: { id, field }, type, onInput }: FieldFunctionProps) {
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

export function typeText(type: string): string {
  return isType(type) ? t(`type${type}`) : type
}

type Types = ConditionChoices['types']

/** The attribute whose name to read a text is, in any case. Undefined while the text can become another such name. */
function attributeNamed(text: string, types: Types): string | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === '' || Object.hasOwn(types, text)) return undefined
  const [only, ...others] = Object.keys(types).filter((name) => attributeText(name).toLowerCase().startsWith(wanted))
  return only !== undefined && others.length === 0 && attributeText(only).toLowerCase() === wanted ? only : undefined
}

/** The operators of the attribute's type, and the current one. */
function operatorsOf({ id, operator }: EditedLeaf, type: string | undefined): readonly Operator[] {
  const allowed = allowedOperators(id, type)
  return OPERATORS.filter((one) => one === operator || allowed.includes(one))
}
