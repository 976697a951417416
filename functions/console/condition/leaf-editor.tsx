import { Component } from 'preact'
import { OPERATORS, type Operator, type WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF } from '../../../shared/domain/criteria/operators-of-types.ts'
import { type AttributeType, MEMBER_OF_COLLECTION } from '../../../shared/domain/criteria/schema.ts'
import type { ApiFault } from '../api.ts'
import { Choice, TextField } from '../components/fields.tsx'
import { t } from '../language/texts.ts'
import type { EditedLeaf } from './condition-tree.ts'

/** What conditions of the tenant can use. */
export type ConditionChoices = {
  /** Types of the attributes, by name. */
  readonly types: Readonly<Record<string, string>>
  readonly collections: readonly { readonly id: string; readonly name: string }[]
}

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
            placeholder={t('chooseAttribute')}
            onInput={(event) => change(withAttribute(leaf, event.currentTarget.value))}
          />
        </label>
        {leaf.field !== leaf.id && (
          <TextField label={t('fieldFunction')} value={leaf.field} onInput={(field) => change({ field })} />
        )}
        <Choice
          label={t('operator')}
          value={leaf.operator}
          options={operatorsOf(leaf, type).map((operator) => ({ value: operator, text: t(operator) }))}
          onChange={(operator) => change(withOperator(leaf, operator))}
        />
        {leaf.operator !== 'IsNull' && (
          <ValueField leaf={leaf} type={type} choices={choices} onInput={(value) => change({ value })} />
        )}
        {faults.map(({ message }) => (
          <p key={message} class="fault" role="alert">
            {message}
          </p>
        ))}
      </div>
    )
  }
}

/** Functions around the attribute stay around the new one. */
function withAttribute({ id, field }: EditedLeaf, next: string): Partial<EditedLeaf> {
  return { id: next, field: id !== '' && field !== id ? field.replace(id, next) : next }
}

/** A list has several values, any other operator one. */
function withOperator({ value }: EditedLeaf, operator: Operator): Partial<EditedLeaf> {
  const values = value === undefined ? [] : [value].flat()
  return { operator, value: operator === 'In' ? values.filter((one) => one !== '') : (values[0] ?? '') }
}

/** The operators of the attribute's type, and the current one. */
function operatorsOf({ id, operator }: EditedLeaf, type: string | undefined): readonly Operator[] {
  const allowed = id === MEMBER_OF_COLLECTION ? MEMBERSHIP_OPERATORS : isType(type) ? OPERATORS_OF[type] : OPERATORS
  return OPERATORS.filter((one) => one === operator || allowed.includes(one))
}

function isType(type: string | undefined): type is AttributeType {
  return type !== undefined && Object.hasOwn(OPERATORS_OF, type)
}

type ValueFieldProps = {
  readonly leaf: EditedLeaf
  readonly type: string | undefined
  readonly choices: ConditionChoices
  readonly onInput: (value: WireLeaf['value']) => void
}

function ValueField({ leaf: { id, operator, value }, type, choices, onInput }: ValueFieldProps) {
  if (operator === 'In') {
    const lines = value === undefined ? '' : [value].flat().join('\n')
    return (
      <TextField
        label={t('valuesOnePerLine')}
        multiline
        value={lines}
        onInput={(text) => onInput(text === '' ? [] : text.split('\n'))}
      />
    )
  }
  const single = value === undefined ? '' : String(value)
  if (id === MEMBER_OF_COLLECTION) {
    const options = choices.collections.map((one) => ({ value: one.id, text: one.name }))
    return <Choice label={t('collection')} value={single} options={options} onChange={onInput} />
  }
  if (type === 'Boolean') {
    const options = [
      { value: 'true', text: t('yes') },
      { value: 'false', text: t('no') },
    ]
    return <Choice label={t('value')} value={single} options={options} onChange={onInput} />
  }
  return <TextField label={t('value')} value={single} onInput={onInput} />
}
