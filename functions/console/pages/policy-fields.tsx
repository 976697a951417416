import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import { Check, Choice, TextField } from '../components/fields.tsx'
import { ItemPicker, PickedItems } from '../components/item-picker.tsx'
import { Order } from '../components/order.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { collectionsNamed } from '../object-names.ts'
import type { EditedGate, EditedPolicy } from './edited-policy.ts'

type PolicyFieldsProps = {
  readonly policy: EditedPolicy
  readonly collections: readonly CollectionDto[]
  readonly onChange: (policy: EditedPolicy) => void
}

const GATE_TYPES = ['Manager', 'Identity', 'Collection'] as const

/** Who can ask to join, and the gates that a request passes. */
export function PolicyFields({ policy, collections, onChange }: PolicyFieldsProps) {
  const { isApprovalRequired, gates, joinableBy, isReasonNeeded, maxDays } = policy
  return (
    <>
      <Section title={t('whoCanJoin')}>
        {joinableBy.length === 0 && <p>{t('everybodyCanJoin')}</p>}
        <PickedItems items={joinableBy} onChange={(items) => onChange({ ...policy, joinableBy: items })} />
        <ItemPicker
          label={t('joinableByCollection')}
          hint={t('joinableByHint')}
          without={joinableBy.map(({ id }) => id)}
          search={async (text) => collectionsNamed(collections, text)}
          onPick={(item) => onChange({ ...policy, joinableBy: [...joinableBy, item] })}
        />
        <div class="narrow">
          <TextField
            label={t('maxDays')}
            type="number"
            value={maxDays}
            onInput={(days) => onChange({ ...policy, maxDays: days })}
            hint={t('maxDaysHint')}
          />
        </div>
      </Section>
      <Section title={t('approval')}>
        <Check
          label={t('approvalRequired')}
          isChecked={isApprovalRequired}
          onChange={(isChecked) => onChange({ ...policy, isApprovalRequired: isChecked })}
        />
        {isApprovalRequired && (
          <>
            <GateFields
              gates={gates}
              collections={collections}
              onChange={(next) => onChange({ ...policy, gates: next })}
            />
            <Check
              label={t('rejectionNeedsReason')}
              isChecked={isReasonNeeded}
              onChange={(isChecked) => onChange({ ...policy, isReasonNeeded: isChecked })}
            />
          </>
        )}
      </Section>
    </>
  )
}

type GateFieldsProps = {
  readonly gates: readonly EditedGate[]
  readonly collections: readonly CollectionDto[]
  readonly onChange: (gates: readonly EditedGate[]) => void
}

/** The gates in their order. Only one of them can be the manager's. */
function GateFields({ gates, collections, onChange }: GateFieldsProps) {
  const hasManager = gates.some(({ type }) => type === 'Manager')
  const add = () => {
    const key = Math.max(-1, ...gates.map((gate) => gate.key)) + 1
    const type = hasManager ? 'Identity' : 'Manager'
    onChange([...gates, { key, type, approvers: [], kept: { type } }])
  }
  const move = (index: number, by: -1 | 1) => {
    const [moved, other] = [gates[index], gates[index + by]]
    if (moved !== undefined && other !== undefined) onChange(gates.with(index, other).with(index + by, moved))
  }
  return (
    <div class="group">
      <ol>
        {gates.map((gate, index) => (
          <li key={gate.key} class="node">
            <GateField
              gate={gate}
              index={index}
              collections={collections}
              types={GATE_TYPES.filter((type) => type !== 'Manager' || !hasManager || gate.type === 'Manager')}
              onChange={(changed) => onChange(gates.with(index, changed))}
            />
            <Order
              index={index}
              count={gates.length}
              onMove={(by) => move(index, by)}
              onRemove={() => onChange(gates.toSpliced(index, 1))}
            />
          </li>
        ))}
      </ol>
      <div class="actions adds">
        <button type="button" onClick={add}>
          {t('addGate')}
        </button>
      </div>
    </div>
  )
}

type GateFieldProps = {
  readonly gate: EditedGate
  readonly index: number
  readonly types: readonly EditedGate['type'][]
  readonly collections: readonly CollectionDto[]
  readonly onChange: (gate: EditedGate) => void
}

function GateField({ gate, index, types, collections, onChange }: GateFieldProps) {
  const { type, approvers } = gate
  return (
    <fieldset class="gate">
      <legend class="visually-hidden">{t('gateNumber', { number: index + 1 })}</legend>
      <Choice
        label={t('gateNumber', { number: index + 1 })}
        value={type}
        options={types.map((value) => ({ value, text: t(`gate${value}`) }))}
        onChange={(next) => onChange({ ...gate, type: next, approvers: [] })}
      />
      {type === 'Manager' ? (
        <p class="hint">{t('gateManagerHint')}</p>
      ) : (
        <>
          <PickedItems items={approvers} onChange={(items) => onChange({ ...gate, approvers: items })} />
          <ItemPicker
            key={type}
            label={type === 'Identity' ? t('addApprover') : t('addApproverCollection')}
            without={approvers.map(({ id }) => id)}
            search={type === 'Identity' ? undefined : async (text) => collectionsNamed(collections, text)}
            onPick={(item) => onChange({ ...gate, approvers: [...approvers, item] })}
          />
        </>
      )}
    </fieldset>
  )
}
