import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described } from '../../kernel/schema.ts'
import { foldedText } from '../core/search-text.ts'
import { schemaSource } from '../criteria/schema.ts'
import type { Column } from '../tenant-index/rows/column.ts'
import { type ConditionDependencies, schemaFor } from './condition-entry.ts'

/** Values in one response. */
const MAX_VALUES_COUNT = 50

export const FrequentValue = Closed({
  value: Type.String(),
  objectCount: Described(Type.Integer(), 'The number of identities, relationships or org units with this value.'),
})
export type FrequentValue = Static<typeof FrequentValue>

type AskedValues = { readonly attribute: string; readonly text: string | undefined }

/**
 * The most frequent values of a text attribute, those of most objects first, in which a text occurs.
 * @throws Refusal `FieldNotInSchema` for an attribute that the caller cannot use in a condition, `InvalidValue` for one
 * of another type.
 */
export async function listFrequentValues(
  caller: Caller,
  { attribute, text }: AskedValues,
  { snapshots }: Pick<ConditionDependencies, 'snapshots'>,
): Promise<FrequentValue[]> {
  const rows = await snapshots.fresh(caller.tenantId)
  const type = schemaFor(caller, rows).get(attribute)
  if (type === undefined) {
    throw new Refusal('FieldNotInSchema', `Field ${attribute} does not exist in schema`, 'attribute')
  }
  const source = schemaSource(attribute)
  if (type !== 'String' || source?.kind !== 'attribute') {
    throw new Refusal('InvalidValue', `attribute must be of type String. ${attribute} is of type ${type}`, 'attribute')
  }
  const table = rows.tables[source.objectType]
  return snapshots.reading(rows, valuesTask(table.column(source.attribute), table.slotCount, foldedText(text ?? '')))
}

/** Objects counted in one step of the task. */
const OBJECTS_PER_STEP_COUNT = 16_384
/** Values looked at in one step of the task. */
const VALUES_PER_STEP_COUNT = 1024

/** @param slotCount of the column's objects. @param text Folded. */
function* valuesTask(column: Column, slotCount: number, text: string): Task<FrequentValue[]> {
  const { values } = column
  if (values.kind !== 'text') throw new Error(`The column ${column.name} has no texts`)
  // A deleted object has code 0, as one without a value.
  const codes = column.codes(slotCount)
  const counts = new Uint32Array(values.size)
  for (let slot = 0; slot < slotCount; slot += 1) {
    if (slot % OBJECTS_PER_STEP_COUNT === 0) yield
    const code = codes[slot] as number
    counts[code] = (counts[code] as number) + 1
  }
  const most: FrequentValue[] = []
  for (let code = 1; code < counts.length; code += 1) {
    if (code % VALUES_PER_STEP_COUNT === 0) yield
    const objectCount = counts[code] as number
    // Values that few objects have are not decoded once the list is full.
    if (objectCount <= (most[MAX_VALUES_COUNT - 1]?.objectCount ?? 0)) continue
    const value = values.dictionary.textOf(code)
    if (!foldedText(value).includes(text)) continue
    most.splice(offsetOf(objectCount, most), 0, { value, objectCount })
    most.length = Math.min(most.length, MAX_VALUES_COUNT)
  }
  return most
}

/** The place of a count in a list that descends: after equal ones. */
function offsetOf(objectCount: number, descending: readonly FrequentValue[]): number {
  const place = descending.findIndex((other) => other.objectCount < objectCount)
  return place === -1 ? descending.length : place
}
