import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type CollectionObjectType, NO_METADATA, readMetadata } from '../../shared/domain/collections/collection.ts'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import type { WireGroup } from '../../shared/domain/criteria/condition.ts'
import { withStoredValues } from '../../shared/domain/criteria/hidden-values.ts'
import type { ConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { checkJoinPolicy } from '../../shared/domain/membership-requests/check-join-policy.ts'
import type { JoinPolicyInput } from '../../shared/domain/membership-requests/join-policy.ts'
import { isGuid } from '../../shared/kernel/guid.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import type { DefinitionFile, FileFault } from './definition-file.ts'
import { isCollectionReference, referencesIn, replaceReferences } from './references.ts'
import { type CollectionKind, type CollectionRecord, DEFINITION_MEMBER, type Tenant, uniqueNames } from './tenant.ts'

/** A collection as a file wants it, with ids in place of names, as the API would store it. */
export type WantedCollection = CollectionRecord & {
  readonly file: DefinitionFile
  /** The record that the file describes. Without one, `id` is a placeholder until the collection is created. */
  readonly record: CollectionRecord | undefined
  /** Mistakes of the definition that need no look at the tenant's data. */
  readonly definitionFaults: readonly FileFault[]
}

export type WantedCollections = {
  readonly collections: readonly WantedCollection[]
  readonly faults: readonly FileFault[]
}

type FileValue = {
  readonly name: string
  readonly objectType: CollectionObjectType
  readonly description?: string
  readonly metadata?: Parameters<typeof readMetadata>[0]
}

/** The collections of the files, with the ids of the tenant. */
export function wantedCollections(files: readonly DefinitionFile[], tenant: Tenant): WantedCollections {
  const faults: FileFault[] = []
  const ofKinds = files.filter(({ kind }) => kind === 'criteria' || kind === 'joinable')
  const fileOf = new Map<string, DefinitionFile>()
  for (const file of ofKinds) {
    const { name } = file.value as unknown as FileValue
    const first = fileOf.get(name)
    if (first === undefined) fileOf.set(name, file)
    else faults.push(file.fault('/name', `The collection ${name} is already in ${first.file}`))
  }
  const recordOf = uniqueNames(tenant.collections, ({ name }) => name)
  const allNames = new Set(tenant.collections.map(({ name }) => name))
  const idOf = (name: string): string | undefined =>
    recordOf.get(name)?.id ?? (fileOf.has(name) ? placeholderOf(name) : undefined)
  const collections: WantedCollection[] = []
  for (const [name, file] of fileOf) {
    const record = recordOf.get(name)
    if (record === undefined && allNames.has(name)) {
      faults.push(file.fault('/name', `The tenant has several collections with the name ${name}`))
    } else if (record !== undefined && record.kind !== file.kind) {
      faults.push(file.fault('/name', `The collection ${name} exists as a ${record.kind} collection`))
    } else {
      const read = wantedCollection(file, record, idOf, tenant.schema)
      faults.push(...read.faults)
      collections.push(read.collection)
    }
  }
  return { collections, faults }
}

function wantedCollection(
  file: DefinitionFile,
  record: CollectionRecord | undefined,
  idOf: (name: string) => string | undefined,
  schema: ConditionSchema,
): { readonly collection: WantedCollection; readonly faults: readonly FileFault[] } {
  const kind = file.kind as CollectionKind
  const value = file.value as unknown as FileValue
  const { metadata, faults: metadataFaults } = readMetadata(value.metadata)
  const faults = metadataFaults.map(({ target = '', message }) => file.fault(target, message))
  if (record !== undefined && record.objectType !== value.objectType) {
    const message = `The object type of a collection cannot be changed from ${record.objectType}`
    faults.push(file.fault('/objectType', message))
  }
  const member = DEFINITION_MEMBER[kind]
  const withIds = replaceReferences(
    file.value[member] ?? {},
    (reference, pointer) => {
      if (!isCollectionReference(reference)) return reference
      const id = idOf(reference.collection)
      if (id !== undefined) return id
      faults.push(file.fault(pointer, `There is no collection ${reference.collection}, or there are several`))
      return reference
    },
    `/${member}`,
  ) as JsonObject
  const normalised = normalisedDefinition(kind, withIds, schema, value.objectType)
  const collection: WantedCollection = {
    kind,
    file,
    record,
    id: record?.id ?? placeholderOf(value.name),
    name: value.name,
    objectType: value.objectType,
    description: value.description ?? null,
    metadata: toWire({ ...NO_METADATA, ...metadata }),
    definition: normalised.definition,
    definitionFaults: normalised.faults.map(({ pointer, message }) => file.fault(pointer, message)),
  }
  return { collection, faults }
}

const toWire = ({ tags, attributes }: typeof NO_METADATA): CollectionRecord['metadata'] => ({
  tags: [...tags],
  attributes: { ...attributes },
})

type Normalised = {
  readonly definition: JsonObject
  readonly faults: readonly { readonly pointer: string; readonly message: string }[]
}

/** A definition as the API stores it; unchanged with faults. */
export function normalisedDefinition(
  kind: CollectionKind,
  definition: JsonObject,
  schema: ConditionSchema,
  objectType: string,
): Normalised {
  if (kind === 'criteria') {
    const check = checkCondition(definition, schema, 'stored', objectType)
    if (check.ok) return { definition: check.condition.wire as unknown as JsonObject, faults: [] }
    const faults = check.faults.map(({ pointer, message }) => ({ pointer: `/condition${pointer}`, message }))
    return { definition, faults }
  }
  const { policy, faults } = checkJoinPolicy(withLowerCaseIds(definition) as unknown as JoinPolicyInput)
  return {
    definition: faults.length > 0 ? definition : { ...definition, ...(policy as unknown as JsonObject) },
    faults: faults.map(({ target = '', message }) => ({ pointer: target, message })),
  }
}

const POLICY_ID_LISTS = ['approvers', 'collectionIds']

/** The policy with the ids of its lists in lower case, as the API stores them. */
function withLowerCaseIds(policy: Json, isIdList = false): Json {
  if (Array.isArray(policy)) return policy.map((item: Json) => withLowerCaseIds(item, isIdList))
  if (typeof policy === 'string') return isIdList && isGuid(policy) ? policy.toLowerCase() : policy
  if (typeof policy !== 'object' || policy === null) return policy
  return Object.fromEntries(
    Object.entries(policy).map(([name, value]) => [name, withLowerCaseIds(value, POLICY_ID_LISTS.includes(name))]),
  )
}

/** Whether a file has the stored definition, also where it has `hidden` in place of values that are stored. */
export function isSameDefinition(kind: CollectionKind, wanted: JsonObject, stored: JsonObject): boolean {
  if (isDeepStrictEqual(wanted, stored)) return true
  return kind === 'criteria' && isDeepStrictEqual(withStoredValues(wanted, stored as unknown as WireGroup), stored)
}

/** The ids of the collections that a definition refers to, each once. */
export function referredIds({ definition }: Pick<CollectionRecord, 'definition'>): string[] {
  const ids = referencesIn(definition as Json).filter((reference) => typeof reference === 'string' && isGuid(reference))
  return [...new Set(ids.map((id) => String(id).toLowerCase()))]
}

/** Stands for the id of a collection that is not created yet: a GUID made of the name. */
function placeholderOf(name: string): string {
  const hex = createHash('sha256').update(`collection ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
