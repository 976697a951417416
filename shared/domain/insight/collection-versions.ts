import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import { auditedFields } from '../collections/audit-collection.ts'
import { type Collection, CollectionDto, Condition, toCriteriaCollectionDto } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { AuditRecord, AuditTrail } from '../history/audit.ts'
import { JoinPolicyDto } from '../membership-requests/join-policy.ts'
import { toJoinableCollectionDto } from '../membership-requests/joinable-collection.ts'
import { hasFullAccess } from '../object-access/object-access.ts'

/** The definition of a collection as an entry of its audit has left it. */
export const CollectionVersion = Closed({
  collectionId: Guid,
  version: Guid,
  at: Described(Timestamp, 'When this definition was saved.'),
  actorId: Described(Type.String(), 'Who saved it, as in the audit.'),
  objectType: CollectionDto.properties.objectType,
  name: Type.String(),
  description: Described(Type.String(), 'Empty without one: a PUT of null would keep the present description.'),
  metadata: CollectionDto.properties.metadata,
  condition: Described(Nullable(Condition), 'Null for a joinable collection.'),
  joinPolicy: Described(Nullable(JoinPolicyDto), 'Null for a criteria collection.'),
})
export type CollectionVersion = Static<typeof CollectionVersion>

type VersionDependencies = Pick<CollectionDependencies, 'collections'> & { readonly auditTrail: AuditTrail }

/** Records of the audit that are read together. */
const PAGE_COUNT = 100
/** Times that a definition is read with its audit, when it changes meanwhile. */
const READS_COUNT = 3

/**
 * The definition of a collection as of an entry of its audit. Saving it restores it.
 * @throws Refusal `CollectionNotFound`; `VersionNotFound` for an id that is not that of a saved definition;
 * `HistoryNotKept` when a part of it is too long for the audit.
 */
export async function readCollectionVersion(
  tenantId: string,
  collectionId: string,
  version: string,
  caller: Caller,
  deps: VersionDependencies,
): Promise<CollectionVersion> {
  for (let reads = 1; ; reads += 1) {
    const found = await deps.collections.find(tenantId, collectionId)
    const records = await recordsDownTo(tenantId, collectionId, version, deps.auditTrail)
    const again = await deps.collections.find(tenantId, collectionId)
    if (found?.version !== again?.version && reads < READS_COUNT) continue
    if (found === undefined) throw new Refusal('CollectionNotFound', `There is no collection ${collectionId}`)
    return versionOf(found.value, records, version, caller)
  }
}

/** The records of definitions from the newest one to the one of the version. */
async function recordsDownTo(
  tenantId: string,
  collectionId: string,
  version: string,
  auditTrail: AuditTrail,
): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  let after: string | undefined
  do {
    const page = await auditTrail.page(tenantId, collectionId, after, PAGE_COUNT)
    for (const record of page.items) {
      if (record.linkId === null) records.push(record)
      if (record.id === version) return records
    }
    after = page.continueAfter
  } while (after !== undefined)
  return []
}

function versionOf(
  collection: Collection,
  records: readonly AuditRecord[],
  version: string,
  caller: Caller,
): CollectionVersion {
  const record = records.at(-1)
  if (record?.id !== version) throw new Refusal('VersionNotFound', `The collection has no version ${version}`)
  const fields = fieldsBefore(auditedFields(collection), records.slice(0, -1))
  const definition = fields[collection.kind === 'criteria' ? 'condition' : 'joinPolicy']
  if ([definition, fields.metadata, fields.description].some(isOmitted))
    throw new Refusal('HistoryNotKept', 'A part of this version is too long to be kept')
  const { objectType, name, description, metadata } = fields as Pick<
    Collection,
    'objectType' | 'name' | 'description' | 'metadata'
  >
  const former = { ...collection, objectType, name, description, metadata, definition: definition as object }
  const dto =
    collection.kind === 'criteria'
      ? toCriteriaCollectionDto({ showsSensitive: hasFullAccess(caller) })(former)
      : toJoinableCollectionDto(former)
  return {
    ...{ collectionId: collection.id, version, at: record.at, actorId: record.actorId },
    ...{ objectType, name, description: description ?? '', metadata: dto.metadata },
    condition: 'condition' in dto ? dto.condition : null,
    joinPolicy: 'joinPolicy' in dto ? dto.joinPolicy : null,
  }
}

type Fields = AuditRecord['before']

/** The fields before changes, which are listed newest first. */
function fieldsBefore(fields: Fields, changes: readonly AuditRecord[]): Fields {
  let former = { ...fields }
  for (const { before, after } of changes) {
    const added = new Set(Object.keys(after).filter((name) => !Object.hasOwn(before, name)))
    former = { ...Object.fromEntries(Object.entries(former).filter(([name]) => !added.has(name))), ...before }
  }
  return former
}

function isOmitted(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'omittedLength' in value
}
