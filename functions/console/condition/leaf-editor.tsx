import { Component } from 'preact'
import { useState } from 'preact/hooks'
import { OPERATORS, type Operator } from '../../../shared/domain/criteria/condition.ts'
import type { ApiFault } from '../api.ts'
import { Badge, Check, Choice } from '../components/fields.tsx'
import { t } from '../language/texts.ts'
import { AttributeField } from './attribute-field.tsx'
import type { ConditionChoices } from './condition-choices.ts'
import { type EditedLeaf, type EditedNode, inAnyPosition, isOperand } from './condition-tree.ts'
import { formsOf } from './field-form.ts'
import { FieldFunction } from './field-function.tsx'
import { allowedOperators, operandTypes, withAttribute, withOperator } from './leaf-changes.ts'
import { type NodeNotes, Notes } from './node-notes.tsx'
import { operatorText } from './operator-text.ts'
import { ValueField } from './value-field.tsx'

type LeafEditorProps = {
  readonly leaf: EditedLeaf
  readonly choices: ConditionChoices
  readonly notes: NodeNotes
  /** Whether the leaf can be in a group over any position. */
  readonly canBeAnyPosition: boolean
  readonly onChange: (node: EditedNode) => void
}

/** Edits one leaf. In a long condition, only the leaf that changes is rendered again. */
export class LeafEditor extends Component<LeafEditorProps> {
  override shouldComponentUpdate(next: LeafEditorProps): boolean {
    const { leaf, choices, notes, canBeAnyPosition } = this.props
    // A new `onChange` has new siblings, so that it must be kept; it does not change what is shown.
    this.#onChange = next.onChange
    return (
      leaf !== next.leaf ||
      choices !== next.choices ||
      canBeAnyPosition !== next.canBeAnyPosition ||
      !(notes.isEmpty && next.notes.isEmpty)
    )
  }

  #onChange = this.props.onChange

  override render() {
    const { leaf, choices, notes, canBeAnyPosition } = this.props
    return <Line {...{ leaf, choices, notes, canBeAnyPosition }} onChange={(node) => this.#onChange(node)} />
  }
}

function Line({ leaf, choices, notes, canBeAnyPosition, onChange }: LeafEditorProps) {
  const type = choices.types[leaf.id]
  const [isMore, setMore] = useState(() => leaf.field !== leaf.id)
  const change = (changed: Partial<EditedLeaf>) => onChange({ ...leaf, ...changed })
  return (
    <div class="leaf">
      <AttributeField
        label={t('attribute')}
        value={leaf.id}
        types={choices.types}
        onInput={(name) => change(withAttribute(leaf, name, choices.types))}
      />
      <Choice
        label={t('operator')}
        value={leaf.operator}
        options={operatorsOf(leaf, type).map((operator) => ({
          value: operator,
          text: operatorText(operator, leaf.id, type),
        }))}
        onChange={(operator) => change(withOperator(leaf, operator))}
      />
      <div class="leaf-value">
        {leaf.operator !== 'IsNull' && (
          <ValueField leaf={leaf} type={type} choices={choices} onInput={(value) => change({ value })} />
        )}
      </div>
      <button
        type="button"
        class="quiet"
        title={t('moreOptions')}
        aria-label={t('moreOptions')}
        aria-expanded={isMore}
        onClick={() => setMore(!isMore)}
      >
        …
      </button>
      {isMore && <LeafOptions {...{ leaf, choices, canBeAnyPosition, onChange }} />}
      {notes.holds !== undefined && (
        <p class="wide">
          <Badge kind={notes.holds ? 'good' : 'bad'}>{t(notes.holds ? 'holds' : 'holdsNot')}</Badge>
        </p>
      )}
      <Notes warnings={notes.warnings} faults={faultsOf(leaf, type, notes.faults)} />
    </div>
  )
}

type LeafOptionsProps = Omit<LeafEditorProps, 'notes'>

/** What few conditions need: a function around the attribute, another attribute as value, any position. */
function LeafOptions({ leaf, choices, canBeAnyPosition, onChange }: LeafOptionsProps) {
  const type = choices.types[leaf.id]
  const canCompare = operandTypes(leaf, type).length > 0
  const isCompared = isOperand(leaf.value)
  if (formsOf(type).length === 1 && !canCompare && !canBeAnyPosition) {
    return <p class="hint wide">{t('noMoreOptions')}</p>
  }
  return (
    <div class="leaf-options wide">
      {!isCompared && <FieldFunction leaf={leaf} type={type} onInput={(field) => onChange({ ...leaf, field })} />}
      {canCompare && leaf.field === leaf.id && (
        <Check
          label={t('compareAttribute')}
          isChecked={isCompared}
          onChange={(isChecked) => onChange({ ...leaf, value: isChecked ? { attribute: '' } : undefined })}
        />
      )}
      {canBeAnyPosition && (
        <button type="button" onClick={() => onChange(inAnyPosition(leaf))}>
          {t('makeAnyPosition')}
        </button>
      )}
    </div>
  )
}

/** A value that the person may not see stays as it is, though its attribute is not in the list. */
const HIDDEN = 'hidden'

/** An attribute that does not exist is a fault of the line, which the preview leaves out. */
function faultsOf(leaf: EditedLeaf, type: string | undefined, faults: readonly ApiFault[]): readonly ApiFault[] {
  const isUnknown = leaf.id !== '' && type === undefined && leaf.value !== HIDDEN
  if (!isUnknown || faults.some(({ code }) => code === 'FieldNotInSchema')) return faults
  return [...faults, { code: 'FieldNotInSchema', message: leaf.id }]
}

/** The operators of the attribute's type, and the current one. */
function operatorsOf({ id, operator }: EditedLeaf, type: string | undefined): readonly Operator[] {
  const allowed = allowedOperators(id, type)
  return OPERATORS.filter((candidate) => candidate === operator || allowed.includes(candidate))
}
