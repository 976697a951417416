import { useState } from 'preact/hooks'
import { GROUP_OPERATORS } from '../../../shared/domain/criteria/condition.ts'
import { Check, Choice } from '../components/fields.tsx'
import { Order } from '../components/order.tsx'
import { t } from '../language/texts.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { groupText } from './condition-text.tsx'
import { type EditedGroup, newGroup, newLeaf, withChild, withMovedChild, withoutChild } from './condition-tree.ts'
import { LeafEditor } from './leaf-editor.tsx'
import { Notes, notesOfGroup, notesOfLeaf, type TreeNotes } from './node-notes.tsx'

type GroupEditorProps = {
  readonly group: EditedGroup
  /** JSON pointer of the group in the condition. */
  readonly pointer: string
  readonly choices: ConditionChoices
  readonly notes: TreeNotes
  /** Whether the group, and what is in it, can be over any position. */
  readonly canBeAnyPosition: boolean
  readonly onChange: (group: EditedGroup) => void
}

/** Edits a condition: groups, leaves and their order, all by keyboard. */
export function ConditionBuilder(props: Omit<GroupEditorProps, 'pointer'>) {
  return <GroupEditor {...props} pointer="" />
}

function GroupEditor({ group, pointer, choices, notes, canBeAnyPosition, onChange }: GroupEditorProps) {
  const own = notesOfGroup(notes, pointer)
  // One such group does not lie within another one.
  const canChildren = canBeAnyPosition && group.over === undefined
  return (
    <fieldset class="group">
      <legend class="visually-hidden">{groupText(group.operator, group.over)}</legend>
      <GroupHead {...{ group, canBeAnyPosition, onChange }} />
      <Notes {...own} />
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
                  notes={notes}
                  canBeAnyPosition={canChildren}
                  onChange={(changed) => onChange(withChild(group, index, changed))}
                />
              ) : (
                <LeafEditor
                  leaf={child}
                  choices={choices}
                  notes={notesOfLeaf(notes, at)}
                  canBeAnyPosition={canChildren}
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
      <div class="actions adds">
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

type GroupHeadProps = Pick<GroupEditorProps, 'group' | 'canBeAnyPosition' | 'onChange'>

/** How the nodes of a group combine, and behind a small menu whether the group is about any position of the person. */
function GroupHead({ group, canBeAnyPosition, onChange }: GroupHeadProps) {
  const [isMore, setMore] = useState(group.over !== undefined)
  return (
    <div class="actions">
      <Choice
        label={t('groupOperator')}
        isLabelHidden
        value={group.operator}
        options={GROUP_OPERATORS.map((operator) => ({ value: operator, text: groupText(operator) }))}
        onChange={(operator) => onChange({ ...group, operator })}
      />
      {(canBeAnyPosition || group.over !== undefined) && (
        <>
          <button
            type="button"
            class="quiet"
            title={t('moreOfGroup')}
            aria-label={t('moreOfGroup')}
            aria-expanded={isMore}
            onClick={() => setMore(!isMore)}
          >
            …
          </button>
          {isMore && (
            <Check
              label={t('anyPosition')}
              isChecked={group.over !== undefined}
              onChange={(isChecked) => onChange({ ...group, over: isChecked ? 'AnyPosition' : undefined })}
            />
          )}
        </>
      )}
    </div>
  )
}
