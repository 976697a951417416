import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { WireGroup } from '../criteria/condition.ts'
import { withHiddenValues } from '../criteria/hidden-values.ts'
import { AUDIT_ACTIONS, type AuditRecord, type AuditTrail, SETTINGS_SUBJECT } from '../history/audit.ts'
import { hasFullAccess } from '../object-access/object-access.ts'

const Fields = Type.Unsafe<AuditRecord['before']>({ type: 'object' })

/** One action. */
export const AuditEntry = Closed({
  at: Timestamp,
  actorId: Described(
    Type.String(),
    'A core identity id; the `oid` of an actor without one; or `system`, when the service put the identity that remains ' +
      'after a merge into a condition or policy, or took back a link whose collection was deleted meanwhile.',
  ),
  action: OneOf(AUDIT_ACTIONS),
  version: Described(
    Nullable(Guid),
    'Names the definition that the action has left: see `/collections/beta/{id}/versions/{version}`. Null for actions on ' +
      'links and settings, and for a deletion.',
  ),
  linkId: Described(Nullable(Guid), 'The group link; null for actions on the collection or the settings themselves.'),
  before: Described(
    Fields,
    'The changed fields with their former values; empty for what is new. A value of more than 100,000 characters of JSON ' +
      'is given as `{ "omittedLength": <characters> }`.',
  ),
  after: Described(Fields, 'The same with their new values; empty for what was deleted.'),
})
export type AuditEntry = Static<typeof AuditEntry>

type AuditDependencies = Pick<CollectionDependencies, 'collections'> & { readonly auditTrail: AuditTrail }
/**
 * A page of what was done to a collection and its links, the newest first. Also of a deleted collection.
 * @throws Refusal `CollectionNotFound` for one that never existed.
 */
export async function listAudit(
  tenantId: string,
  collectionId: string,
  { after, size }: PageRange,
  caller: Caller,
  { auditTrail, collections }: AuditDependencies,
): Promise<Page<AuditEntry>> {
  const page = await auditTrail.page(tenantId, collectionId, after, size)
  if (page.items.length === 0 && (await collections.find(tenantId, collectionId)) === undefined) {
    throw new Refusal('CollectionNotFound', `There is no collection ${collectionId}`)
  }
  const entries = page.items.map(toAuditEntry)
  return { ...page, items: hasFullAccess(caller) ? entries : entries.map(withoutSensitiveValues) }
}

/** A page of the changes of a tenant's settings of group links, the newest first. */
export async function listSettingsAudit(
  tenantId: string,
  { after, size }: PageRange,
  { auditTrail }: Pick<AuditDependencies, 'auditTrail'>,
): Promise<Page<AuditEntry>> {
  const page = await auditTrail.page(tenantId, SETTINGS_SUBJECT, after, size)
  return { ...page, items: page.items.map(toAuditEntry) }
}

function withoutSensitiveValues(entry: AuditEntry): AuditEntry {
  return { ...entry, before: hiddenIn(entry.before), after: hiddenIn(entry.after) }
}

/** A condition that is too long for the audit is not in it. */
function hiddenIn(fields: AuditRecord['before']): AuditRecord['before'] {
  const { condition } = fields as { readonly condition?: WireGroup | object }
  if (condition === undefined || !('conditions' in condition)) return fields
  return { ...fields, condition: withHiddenValues(condition) }
}

function toAuditEntry({ id, at, actorId, action, linkId, before, after }: AuditRecord): AuditEntry {
  const version = action === 'Created' || action === 'Updated' ? id : null
  return { at, actorId, action, version, linkId, before, after }
}
