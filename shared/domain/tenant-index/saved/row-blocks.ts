import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { isGuid } from '../../../kernel/guid.ts'
import { packedGuids, unpackedGuids } from '../../../kernel/packed-guids.ts'
import { type AttributeValue, attributeDefinition, OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { SnapshotObject } from '../rows/apply-objects.ts'
import { type Column, storedValue } from '../rows/column.ts'
import type { ObjectTable } from '../rows/object-table.ts'
import type { RowSnapshot } from '../rows/row-snapshot.ts'
import type { SavedOrder } from './saved-order.ts'
import { UnusableRows } from './saved-rows.ts'

/**
 * The version of the format and of how rows are made of core objects. Instances read no rows of another version. In
 * version 1, positions of unknown people could name another person.
 */
export const ROW_BLOCKS_FORMAT = 2

/** Ids in a block, and values of all columns together: a block takes a few milliseconds to write or to parse. */
const IDS_PER_BLOCK_COUNT = 4096
const VALUES_PER_BLOCK_COUNT = 20_000

/** Objects that are read in one step of the task. */
const OBJECTS_PER_STEP_COUNT = 32

/**
 * The value of a column for one object. References are places in the saved order, single ones the difference to the one
 * before.
 */
type Value = string | boolean | number | readonly string[] | readonly number[] | null

/** Values in the saved order. GUIDs are packed; the GUID of zeros stands for no value. */
type Values = string | readonly Value[]

/** Ids in their saved order, those of unknown targets of references included. */
type IdBlock = { readonly idsOf: ObjectType; readonly ids: Values }

/** Consecutive objects in their saved order. */
type ObjectBlock = {
  readonly objectType: ObjectType
  readonly fromPlace: number
  readonly count: number
  readonly columns: Readonly<Record<string, Values>>
}

const NO_GUID = '00000000-0000-0000-0000-000000000000'

type Orders = Readonly<Record<ObjectType, SavedOrder>>

/**
 * Writes all live objects as lines of JSON, by column: equal values then lie close together and compress well. First
 * all ids, so that references can be their places; then the objects. Each task writes one block. The rows must not
 * change meanwhile.
 */
export function* rowBlocks(rows: RowSnapshot, orders: Orders): Generator<Task<string>> {
  for (const type of OBJECT_TYPES) {
    const { slots } = orders[type]
    for (let from = 0; from < slots.length; from += IDS_PER_BLOCK_COUNT) {
      yield idBlock(rows.tables[type], slots.subarray(from, from + IDS_PER_BLOCK_COUNT))
    }
  }
  for (const type of OBJECT_TYPES) {
    const table = rows.tables[type]
    const { slots, liveCount } = orders[type]
    const columns = table.presentColumns().filter(({ attribute }) => attribute !== 'id')
    const objectsPerBlock = Math.ceil(VALUES_PER_BLOCK_COUNT / (columns.length + 1))
    for (let from = 0; from < liveCount; from += objectsPerBlock) {
      yield objectBlock(
        columns,
        { type, from, slots: slots.subarray(from, Math.min(from + objectsPerBlock, liveCount)) },
        orders,
      )
    }
  }
}

function* idBlock({ objectType, ids }: ObjectTable, slots: Uint32Array): Task<string> {
  const texts: string[] = []
  for (const [index, slot] of slots.entries()) {
    if (index % OBJECTS_PER_STEP_COUNT === 0) yield
    texts.push(ids.textOf(slot))
  }
  const block: IdBlock = { idsOf: objectType, ids: packedIfGuids(texts) }
  return JSON.stringify(block)
}

function* objectBlock(
  columns: readonly Column[],
  { type, from, slots }: { readonly type: ObjectType; readonly from: number; readonly slots: Uint32Array },
  orders: Orders,
): Task<string> {
  const columnValues: Record<string, Values> = {}
  for (const column of columns) {
    yield
    const values = valuesOf(column, slots, orders)
    if (values.some((value) => value !== null)) columnValues[column.attribute] = packedIfGuids(values)
  }
  const block: ObjectBlock = { objectType: type, fromPlace: from, count: slots.length, columns: columnValues }
  return JSON.stringify(block)
}

function valuesOf(column: Column, slots: Uint32Array, orders: Orders): Value[] {
  const { kind, to } = attributeDefinition(column.objectType, column.attribute) ?? {}
  const offsetOf = (slot: number) => (to === undefined ? 0 : (orders[to].places[slot] as number))
  const values: Value[] = []
  let lastPlace = 0
  for (const slot of slots) {
    const code = column.codeAt(slot)
    if (code === 0) values.push(null)
    else if (kind === 'reference') {
      values.push(offsetOf(code) - lastPlace)
      lastPlace = offsetOf(code)
    } else if (column.values.kind === 'list' && to !== undefined) {
      values.push(column.values.elementCodesOf(code).map(offsetOf))
    } else values.push(kind === 'boolean' ? storedValue(column, code) === 'true' : storedValue(column, code))
  }
  return values
}

function packedIfGuids(values: readonly Value[]): Values {
  const guids: string[] = []
  for (const value of values) {
    if (value !== null && !isPackable(value)) return values
    guids.push(value ?? NO_GUID)
  }
  return packedGuids(guids)
}

/** Only lower-case GUIDs are the same after packing and unpacking. */
function isPackable(value: Value): value is string {
  return typeof value === 'string' && value !== NO_GUID && isGuid(value) && value === value.toLowerCase()
}

/** Reads the blocks of `rowBlocks` in their order. */
export class RowBlockReader {
  readonly #ids: Record<ObjectType, string[]> = { identity: [], orgUnit: [], relationship: [] }

  #idOf(objectType: ObjectType, place: number): string {
    const id = this.#ids[objectType][place]
    if (id === undefined) throw new Error(`There is no ${objectType} in place ${place}`)
    return id
  }

  /** The live objects in a block. @throws UnusableRows for text that is no such block */
  *objectsIn(text: string): Task<SnapshotObject[]> {
    try {
      const block = JSON.parse(text) as IdBlock | ObjectBlock
      if (!('idsOf' in block)) return yield* this.#objects(block)
      for (const id of unpacked(block.ids)) this.#ids[block.idsOf].push(id as string)
      return []
    } catch (cause) {
      throw new UnusableRows('The block cannot be read', { cause })
    }
  }

  *#objects({ objectType, fromPlace, count, columns }: ObjectBlock): Task<SnapshotObject[]> {
    const all: Record<string, AttributeValue>[] = Array.from({ length: count }, () => ({}))
    for (const [attribute, values] of Object.entries(columns)) {
      yield
      this.#setAttribute(all, objectType, attribute, unpacked(values))
    }
    const objects: SnapshotObject[] = []
    for (const [index, { externalId, ...attributes }] of all.entries()) {
      if (index % OBJECTS_PER_STEP_COUNT === 0) yield
      const id = this.#idOf(objectType, fromPlace + index)
      objects.push({ id, objectType, externalId: externalId as string, attributes, deleted: false })
    }
    return objects
  }

  #setAttribute(
    objects: readonly Record<string, AttributeValue>[],
    objectType: ObjectType,
    attribute: string,
    values: readonly Value[],
  ): void {
    const to = attributeDefinition(objectType, attribute)?.to
    let place = 0
    for (const [index, object] of objects.entries()) {
      const value = values[index] ?? null
      if (value === null) continue
      if (to === undefined) object[attribute] = value as AttributeValue
      else if (typeof value === 'number') {
        place += value
        object[attribute] = { objectId: this.#idOf(to, place) }
      } else {
        object[attribute] = (value as readonly number[]).map((element) => ({ objectId: this.#idOf(to, element) }))
      }
    }
  }
}

function unpacked(values: Values): readonly Value[] {
  return typeof values === 'string' ? unpackedGuids(values).map((guid) => (guid === NO_GUID ? null : guid)) : values
}
