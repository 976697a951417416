import { Component } from 'preact'
import { OPERATORS, type Operator } from '../../../shared/domain/criteria/condition.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF } from '../../../shared/domain/criteria/operators-of-types.ts'
import { type AttributeType, MEMBER_OF_COLLECTION } from '../../../shared/domain/criteria/schema.ts'
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
            onInput={(event) => change(withAttribute(leaf, event.currentTarget.value))}
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

/** Functions around the attribute stay around the new one. */
function withAttribute({ id, field }: EditedLeaf, next: string): Partial<EditedLeaf> {
  return { id: next, field: id !== '' && field !== id ? field.replace(id, () => next) : next }
}

/** A list has several values, any other operator one. */
function withOperator({ value }: EditedLeaf, operator: Operator): Partial<EditedLeaf> {
  const values = value === undefined ? [] : [value].flat()
  return { operator, value: operator === 'In' ? (value === undefined ? undefined : values) : values[0] }
}

/** The operators of the attribute's type, and the current one. */
function operatorsOf({ id, operator }: EditedLeaf, type: string | undefined): readonly Operator[] {
  const allowed = id === MEMBER_OF_COLLECTION ? MEMBERSHIP_OPERATORS : isType(type) ? OPERATORS_OF[type] : OPERATORS
  return OPERATORS.filter((one) => one === operator || allowed.includes(one))
}

function isType(type: string | undefined): type is AttributeType {
  return type !== undefined && Object.hasOwn(OPERATORS_OF, type)
}
