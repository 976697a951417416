import { GROUP_OPERATORS } from '../../../shared/domain/criteria/condition.ts'
import type { ApiFault } from '../api.ts'
import { Choice } from '../components/fields.tsx'
import { t } from '../language/texts.ts'
import { groupText } from './condition-text.tsx'
import { type EditedGroup, newGroup, newLeaf, withChild, withMovedChild, withoutChild } from './condition-tree.ts'
import { ATTRIBUTE_LIST_ID, type ConditionChoices, LeafEditor } from './leaf-editor.tsx'

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
  const names = Object.keys(props.choices.types).sort()
  return (
    <>
      <datalist id={ATTRIBUTE_LIST_ID}>
        {names.map((name) => (
          <option key={name} value={name}>
            {props.choices.types[name]}
          </option>
        ))}
      </datalist>
      <GroupEditor {...props} pointer="" />
    </>
  )
}

function GroupEditor({ group, pointer, choices, faults, onChange }: GroupEditorProps) {
  const own = faultsAt(pointer, faults)
  return (
    <fieldset class="group">
      <legend class="visually-hidden">{groupText(group.operator)}</legend>
      <Choice
        label={t('addGroup')}
        isLabelHidden
        value={group.operator}
        options={GROUP_OPERATORS.map((operator) => ({ value: operator, text: groupText(operator) }))}
        onChange={(operator) => onChange({ ...group, operator })}
      />
      {own.map(({ message }) => (
        <p key={message} class="fault" role="alert">
          {message}
        </p>
      ))}
      <ol>
        {group.children.map((child, index) => {
          const at = `${pointer}/conditions/${index}`
          return (
            <li key={child.key}>
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
              <div class="order">
                <button
                  type="button"
                  class="quiet"
                  disabled={index === 0}
                  onClick={() => onChange(withMovedChild(group, index, -1))}
                >
                  {t('moveUp')}
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={index === group.children.length - 1}
                  onClick={() => onChange(withMovedChild(group, index, 1))}
                >
                  {t('moveDown')}
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={group.children.length === 1}
                  onClick={() => onChange(withoutChild(group, index))}
                >
                  {t('removeItem')}
                </button>
              </div>
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
