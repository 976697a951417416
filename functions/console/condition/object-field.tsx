import { useState } from 'preact/hooks'
import type { WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { ItemPicker, PickedItems } from '../components/item-picker.tsx'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'
import { collectionsNamed, findObjects, type PickedItem } from '../object-names.ts'
import { useConsole } from '../session.ts'
import type { ConditionChoices } from './condition-choices.ts'
import type { ReferredType } from './referred-objects.ts'
import { UnitTreeDialog } from './unit-tree.tsx'

type ObjectFieldProps = {
  readonly type: ReferredType
  readonly value: WireLeaf['value']
  /** Whether the operator compares with several ids. */
  readonly isList: boolean
  readonly choices: ConditionChoices
  readonly onInput: (value: WireLeaf['value']) => void
}

const LABEL_OF: Readonly<Record<ReferredType, MessageKey>> = {
  Identity: 'findPerson',
  Relationship: 'findPosition',
  OrgUnit: 'findUnit',
  Collection: 'collectionsFilter',
}

/** The objects or collections that a leaf names: chosen by their names, stored by their ids. */
export function ObjectField({ type, value, isList, choices: { names, collections }, onInput }: ObjectFieldProps) {
  const { api } = useConsole()
  const ids = (value === undefined ? [] : [value].flat().map(String)).filter((id) => id !== '')
  const change = (next: readonly string[]) => onInput(isList && next.length > 0 ? next : next[0])
  const [isTree, setTree] = useState(false)
  const pick = ({ id, name }: PickedItem) => {
    names.set(id, name)
    change(isList ? [...ids.filter((kept) => kept !== id), id] : [id])
  }
  return (
    <div class="picked">
      <PickedItems
        items={ids.map((id) => ({ id, name: names.get(id.toLowerCase()) ?? id }))}
        onChange={(items) => change(items.map(({ id }) => id))}
      />
      <ItemPicker
        label={t(LABEL_OF[type])}
        placeholder={t(LABEL_OF[type])}
        without={ids}
        search={async (text, signal) =>
          type === 'Collection' ? collectionsNamed(collections, text) : findObjects(api, type, text, signal)
        }
        onPick={pick}
      />
      {type === 'OrgUnit' && (
        <button type="button" class="link" onClick={() => setTree(true)}>
          {t('browseUnits')}
        </button>
      )}
      {isTree && (
        <UnitTreeDialog
          onClose={() => setTree(false)}
          onPick={(unit) => {
            pick(unit)
            setTree(false)
          }}
        />
      )}
    </div>
  )
}
