import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import type { CustomType, CustomTypes } from '../core/custom-types.ts'
import { readAs } from '../core/custom-types.ts'
import type { ConditionFault } from '../criteria/condition-findings.ts'
import { schemaSource } from '../criteria/schema.ts'
import { storedValue } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedCheckTask } from './condition-entry.ts'

const MAX_EXAMPLES = 3
const MAX_EXAMPLE_CHARACTERS = 100
const MAX_NAMED_COLLECTIONS = 10

/** Objects looked at in one step of the task. */
const OBJECTS_PER_STEP_COUNT = 4096

type Dependencies = Pick<CollectionDependencies, 'collections' | 'snapshots'>

/**
 * Why the values of live objects and the conditions of collections do not fit other types of custom attributes. A
 * condition that is invalid already is not counted.
 * @param changed The attributes whose types change, by schema name, with their new types.
 * @param types All types after the change.
 */
export async function typeMisfits(
  tenantId: string,
  changed: CustomTypes,
  types: CustomTypes,
  { collections, snapshots }: Dependencies,
): Promise<readonly RefusalEntry[]> {
  const [rows, criteria] = await Promise.all([snapshots.fresh(tenantId), collections.list(tenantId, 'criteria')])
  return snapshots.reading(rows, misfitsTask(rows, criteria, changed, types))
}

function* misfitsTask(
  rows: RowSnapshot,
  criteria: readonly Collection[],
  changed: CustomTypes,
  types: CustomTypes,
): Task<RefusalEntry[]> {
  const entries: RefusalEntry[] = []
  for (const [name, type] of changed) {
    const misfit = yield* valuesTask(name, type, rows)
    if (misfit !== undefined) entries.push(misfit)
  }
  const misfitting = yield* collectionsTask(criteria, changed, rows.settings.types, types)
  if (misfitting.length > 0) entries.push(conditionsEntry(misfitting))
  return entries
}

/** The values of one attribute that do not read as a type. */
function* valuesTask(name: string, type: CustomType, rows: RowSnapshot): Task<RefusalEntry | undefined> {
  const source = schemaSource(name)
  if (source?.kind !== 'attribute') return undefined
  const table = rows.tables[source.objectType]
  const column = table.column(source.attribute)
  const fits = new Map<number, boolean>()
  const examples: string[] = []
  let misfitCount = 0
  for (let slot = 1; slot < table.slotCount; slot += 1) {
    if (slot % OBJECTS_PER_STEP_COUNT === 0) yield
    // A deleted object has no value.
    const code = column.codeAt(slot)
    if (code === 0) continue
    const isFit = fits.get(code) ?? readAs(type, storedValue(column, code)) !== undefined
    if (!isFit) {
      misfitCount += 1
      if (!fits.has(code) && examples.length < MAX_EXAMPLES) examples.push(shown(storedValue(column, code)))
    }
    fits.set(code, isFit)
  }
  if (misfitCount === 0) return undefined
  const message = `${misfitCount} values of ${name} do not read as ${type}, such as ${examples.join(', ')}`
  return refusalEntry('AttributeValuesDoNotFit', message, '/attributeTypes')
}

function shown(value: string | readonly string[]): string {
  const json = JSON.stringify(value)
  return json.length > MAX_EXAMPLE_CHARACTERS ? `${json.slice(0, MAX_EXAMPLE_CHARACTERS).toWellFormed()}…` : json
}

/**
 * The collections with a condition that is valid by the former types, and that the new ones make invalid, or make
 * compare with a value that no request could compare with: it would be read as something else.
 */
function* collectionsTask(
  criteria: readonly Collection[],
  changed: CustomTypes,
  former: CustomTypes,
  types: CustomTypes,
): Task<Collection[]> {
  const names = [...changed.keys()].map((name) => JSON.stringify(name))
  const found: Collection[] = []
  for (const collection of criteria) {
    yield
    const json = JSON.stringify(collection.definition)
    if (!names.some((name) => json.includes(name))) continue
    const after = yield* storedCheckTask(collection, types, 'request')
    if (after.ok || !(yield* storedCheckTask(collection, former)).ok) continue
    const before = yield* storedCheckTask(collection, former, 'request')
    const known = new Set(before.ok ? [] : before.faults.map(faultKey))
    if (after.faults.some((fault) => !known.has(faultKey(fault)))) found.push(collection)
  }
  return found
}

const faultKey = ({ code, pointer }: ConditionFault): string => `${code} ${pointer}`

function conditionsEntry(collections: readonly Collection[]): RefusalEntry {
  const named = collections.slice(0, MAX_NAMED_COLLECTIONS).map(({ name, id }) => `${name} (${id})`)
  const more = collections.length > named.length ? `, and ${collections.length - named.length} more` : ''
  const message = `The conditions of these collections do not fit the new types: ${named.join(', ')}${more}`
  return refusalEntry('ConditionsDoNotFit', message, '/attributeTypes')
}
