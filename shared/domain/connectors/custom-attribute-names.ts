import { LRUCache } from 'lru-cache'
import { pointerPart } from '../../kernel/json.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import { CUSTOM_ATTRIBUTE_PREFIX, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { ObjectData } from './connector-object.ts'

/** The names of custom attributes that count towards a tenant's limit, by object type. Names are never removed. */
type CustomAttributeNames = Readonly<Record<ObjectType, readonly string[]>>

export interface CustomAttributeNameStore {
  /** Includes all earlier writes of all instances. Undefined for a tenant without custom attributes. */
  find(tenantId: string): Promise<Versioned<CustomAttributeNames> | undefined>
  /**
   * Replaces the names of this version; without a version, they must be new.
   * @throws Refusal `StaleVersion`.
   */
  save(tenantId: string, names: CustomAttributeNames, version: string | undefined): Promise<void>
}

/** The custom attributes that a write adds to an object. */
export type AddedNames = { readonly objectType: ObjectType; readonly names: readonly string[] }

/** Tenants whose names are in memory: up to 600 names of 100 characters each. */
const TENANTS_CACHED_COUNT = 100

/**
 * Limits the distinct custom attributes of a tenant's objects. Each is a column in memory. The store has the truth, and
 * its versions keep the limit exact with several instances. A name is registered before the first object with it is
 * written. As names are never removed, a cached name stays valid, and only new names read or write the store.
 */
export class CustomAttributeRegister {
  readonly #store: CustomAttributeNameStore
  readonly #limitCount: number
  readonly #registered = new LRUCache<string, NameSets>({ max: TENANTS_CACHED_COUNT })

  /** @param limitCount Names for each object type. */
  constructor(store: CustomAttributeNameStore, limitCount: number) {
    this.#store = store
    this.#limitCount = limitCount
  }

  /** Registers the names that objects are about to get. @returns The refusals of those that exceed the limit. */
  async register(tenantId: string, added: readonly AddedNames[]): Promise<ReadonlyMap<AddedNames, RefusalEntry>> {
    const registered = this.#registered.get(tenantId)
    const isKnown = ({ objectType, names }: AddedNames): boolean =>
      names.length === 0 || (registered !== undefined && names.every((name) => registered[objectType].has(name)))
    const unknown = added.filter((addition) => !isKnown(addition))
    if (unknown.length === 0) return new Map()
    return retryOnConflict(() => this.#registerUnknown(tenantId, unknown))
  }

  async #registerUnknown(
    tenantId: string,
    added: readonly AddedNames[],
  ): Promise<ReadonlyMap<AddedNames, RefusalEntry>> {
    const found = await this.#store.find(tenantId)
    const { names, isChanged, refusals } = withNames(found?.value, added, this.#limitCount)
    if (isChanged) await this.#store.save(tenantId, listsOf(names), found?.version)
    this.#registered.set(tenantId, names)
    return refusals
  }
}

type NameSets = Readonly<Record<ObjectType, Set<string>>>

/** Adds the names of each object in order. An object that would exceed the limit adds none. */
function withNames(
  before: CustomAttributeNames | undefined,
  added: readonly AddedNames[],
  limitCount: number,
): { names: NameSets; isChanged: boolean; refusals: ReadonlyMap<AddedNames, RefusalEntry> } {
  const names = setsOf(before)
  const refusals = new Map<AddedNames, RefusalEntry>()
  let isChanged = false
  for (const addition of added) {
    const known = names[addition.objectType]
    const missing = addition.names.filter((name) => !known.has(name))
    const exceeding = missing[limitCount - known.size]
    if (exceeding !== undefined) refusals.set(addition, tooMany(addition.objectType, exceeding, limitCount))
    else for (const name of missing) known.add(name)
    isChanged ||= exceeding === undefined && missing.length > 0
  }
  return { names, isChanged, refusals }
}

function tooMany(objectType: ObjectType, name: string, limitCount: number): RefusalEntry {
  const message = `Objects of type ${objectType} can have ${limitCount} different custom attributes, and ${name} would be one more`
  const target = `/data/${pointerPart(name)}`
  return refusalEntry('TooManyAttributes', message, target)
}

/** The custom attributes that an object gets with `data` and does not have yet. */
export function addedNames(objectType: ObjectType, data: ObjectData, before: ObjectData = {}): AddedNames {
  const isAdded = (name: string) => name.startsWith(CUSTOM_ATTRIBUTE_PREFIX) && !Object.hasOwn(before, name)
  return { objectType, names: Object.keys(data).filter(isAdded) }
}

function setsOf(names: CustomAttributeNames | undefined): NameSets {
  return byType((objectType) => new Set(names?.[objectType]))
}

function listsOf(names: NameSets): CustomAttributeNames {
  return byType((objectType) => [...names[objectType]])
}

function byType<T>(make: (objectType: ObjectType) => T): Record<ObjectType, T> {
  return Object.fromEntries(OBJECT_TYPES.map((objectType) => [objectType, make(objectType)])) as Record<ObjectType, T>
}
