import { toTimestamp } from '../../kernel/timestamp.ts'
import { type AuditRecord, changedFields, hasChanges } from '../history/audit.ts'
import type { Collection } from './collection.ts'

/**
 * The audit record of a change of a collection; undefined when no field changes.
 * @param before Undefined for a new collection.
 * @param after Undefined for a deleted one.
 */
export function auditOfCollection(
  action: 'Created' | 'Updated' | 'Deleted',
  before: Collection | undefined,
  after: Collection | undefined,
  actorId: string,
  { newId, nowMs }: { newId(): string; nowMs(): number },
): AuditRecord | undefined {
  const changed = changedFields(auditedFields(before), auditedFields(after))
  const collection = after ?? before
  if (collection === undefined || !hasChanges(changed)) return undefined
  const { tenantId, id: subject } = collection
  return { id: newId(), tenantId, subject, at: toTimestamp(nowMs()), actorId, action, linkId: null, ...changed }
}

/** The fields of a collection as clients know them. */
export function auditedFields(collection: Collection | undefined): Record<string, unknown> {
  if (collection === undefined) return {}
  const { kind, objectType, name, description, metadata, definition } = collection
  return { objectType, name, description, metadata, [kind === 'criteria' ? 'condition' : 'joinPolicy']: definition }
}
