import { useMemo } from 'preact/hooks'
import { GROUP_OPERATORS } from '../../../shared/domain/criteria/condition.ts'
import type { ApiFault } from '../api.ts'
import { Choice } from '../components/fields.tsx'
import { Fault } from '../components/loaded.tsx'
import { Order } from '../components/order.tsx'
import { languageCode, t } from '../language/texts.ts'
import { attributeText, compareAttributes } from './attribute-text.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { groupText } from './condition-text.tsx'
import { type EditedGroup, newGroup, newLeaf, withChild, withMovedChild, withoutChild } from './condition-tree.ts'
import { ATTRIBUTE_LIST_ID, LeafEditor, typeText } from './leaf-editor.tsx'

type GroupEditorProps = {
  readonly group: EditedGroup
  /** JSON pointer of the group in the condition. */
  readonly pointer: string
  readonly choices: ConditionChoices
  readonly faults: readonly ApiFault[]
  readonly onChange: (group: EditedGroup) => void
}

/** Edits a condition: groups, leaves and their order, all by keyboard. One list of attributes serves all leaves. */
export function ConditionBuilder(props: Omit<GroupEditorProps, 'pointer'>) {
  const { types } = props.choices
  const language = languageCode.value
  const options = useMemo(() => attributeOptions(types), [types, language])
  return (
    <>
      <datalist id={ATTRIBUTE_LIST_ID}>{options}</datalist>
      <GroupEditor {...props} pointer="" />
    </>
  )
}

function attributeOptions(types: ConditionChoices['types']) {
  return Object.keys(types)
    .sort(compareAttributes)
    .map((name) => (
      <option key={name} value={name}>
        {`${attributeText(name)} · ${typeText(types[name] ?? '')}`}
      </option>
    ))
}

function GroupEditor({ group, pointer, choices, faults, onChange }: GroupEditorProps) {
  const own = faultsAt(pointer, faults)
  return (
    <fieldset class="group">
      <legend class="visually-hidden">{groupText(group.operator, group.over)}</legend>
      <Choice
        label={t('groupOperator')}
        isLabelHidden
        value={group.operator}
        options={GROUP_OPERATORS.map((operator) => ({ value: operator, text: groupText(operator) }))}
        onChange={(operator) => onChange({ ...group, operator })}
      />
      {own.map((fault) => (
        <div key={fault.message} class="fault" role="alert">
          <Fault fault={fault} />
        </div>
      ))}
      <ol>
        {group.children.map((child, index) => {
          const at = `${pointer}/conditions/${index}`
          return (
            <li key={child.key} class="node">
              {child.kind === 'group' ? (
                <GroupEditor
                  group={child}
                  pointer={at}
                  choices={choices}
                  faults={faults}
                  onChange={(changed) => onChange(withChild(group, index, changed))}
                />
              ) : (
                <LeafEditor
                  leaf={child}
                  choices={choices}
                  faults={faults.filter(({ target }) => target === at || target?.startsWith(`${at}/`))}
                  onChange={(changed) => onChange(withChild(group, index, changed))}
                />
              )}
              <Order
                index={index}
                count={group.children.length}
                onMove={(by) => onChange(withMovedChild(group, index, by))}
                onRemove={() => onChange(withoutChild(group, index))}
              />
            </li>
          )
        })}
      </ol>
      <div class="actions">
        <button type="button" onClick={() => onChange({ ...group, children: [...group.children, newLeaf()] })}>
          {t('addCondition')}
        </button>
        <button type="button" onClick={() => onChange({ ...group, children: [...group.children, newGroup('OR')] })}>
          {t('addGroup')}
        </button>
      </div>
    </fieldset>
  )
}

function faultsAt(pointer: string, faults: readonly ApiFault[]): ApiFault[] {
  return faults.filter(({ target }) => target === pointer || target === `${pointer}/conditions`)
}
