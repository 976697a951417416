import { useState } from 'preact/hooks'
import type { Api } from '../api.ts'
import { Dialog } from '../components/actions.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { compareByLocale, t } from '../language/texts.ts'
import type { PickedItem } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

type UnitTreeDialogProps = { readonly onPick: (unit: PickedItem) => void; readonly onClose: () => void }

/** Chooses a unit from the tree of units. A level is loaded when it is opened. */
export function UnitTreeDialog({ onPick, onClose }: UnitTreeDialogProps) {
  return (
    <Dialog title={t('chooseUnit')} hasClose onClose={onClose}>
      <Units parentId={undefined} onPick={onPick} />
    </Dialog>
  )
}

type UnitsProps = { readonly parentId: string | undefined; readonly onPick: (unit: PickedItem) => void }

function Units({ parentId, onPick }: UnitsProps) {
  const { api } = useConsole()
  const units = useResource(parentId ?? '', (signal) => readUnits(parentId, api, signal))
  return (
    <Loaded resource={units}>
      {(all) =>
        all.length === 0 ? (
          <Empty>{t('noUnitsBelow')}</Empty>
        ) : (
          <ul class="tree">
            {all.map((unit) => (
              <Unit key={unit.id} unit={unit} onPick={onPick} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function Unit({ unit, onPick }: { readonly unit: PickedItem; readonly onPick: UnitsProps['onPick'] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div class="unit">
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          aria-label={t('unitsBelow', { name: unit.name })}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <button type="button" class="link" onClick={() => onPick(unit)}>
          {unit.name}
        </button>
      </div>
      {isOpen && <Units parentId={unit.id} onPick={onPick} />}
    </li>
  )
}

const MAX_UNITS = 1_000

/** The units right below one; without one, those that are below none. */
async function readUnits(parentId: string | undefined, api: Api, signal: AbortSignal): Promise<readonly PickedItem[]> {
  const parent = { id: 'orgUnitParent', field: 'orgUnitParent' }
  const leaf =
    parentId === undefined ? { ...parent, operator: 'IsNull' } : { ...parent, operator: 'Equals', value: parentId }
  const body = {
    preview: { objectType: 'OrgUnit', condition: { groupOperator: 'AND', conditions: [leaf] } },
    limit: MAX_UNITS,
  }
  const path = '/collections-criteria/beta/preview'
  type Previewed = { readonly preview: readonly { readonly objectId: string; readonly displayName: string | null }[] }
  const { data } = await api.send<Previewed>('POST', path, { body, signal })
  return data.preview
    .map(({ objectId, displayName }) => ({ id: objectId, name: displayName ?? objectId }))
    .sort((left, right) => compareByLocale(left.name, right.name))
}
