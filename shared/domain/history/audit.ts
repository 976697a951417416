import type { Page } from '../../kernel/versioned.ts'

/** What people and applications do to a collection, its links and the settings of links. */
export const AUDIT_ACTIONS = [
  'Created',
  'Updated',
  'Deleted',
  'LinkCreated',
  'LinkUpdated',
  'LinkDeleted',
  'RemovalsApproved',
  'RemovalsRejected',
  'SettingsUpdated',
] as const
type AuditAction = (typeof AUDIT_ACTIONS)[number]

type Fields = Readonly<Record<string, unknown>>

/** The fields that an action changed, with their values before and after. */
type ChangedFields = { readonly before: Fields; readonly after: Fields }

/** An entry of the audit of a collection, or of the settings of a tenant. */
export type AuditRecord = ChangedFields & {
  readonly id: string
  readonly tenantId: string
  /** The id of the collection, or `SETTINGS_SUBJECT`. */
  readonly subject: string
  /** Timestamp. */
  readonly at: string
  /** See `actorIdOf`. */
  readonly actorId: string
  readonly action: AuditAction
  /** The group link that the action concerns; null for actions on the collection or the settings. */
  readonly linkId: string | null
}

/** The subject of actions on the settings of group links. */
export const SETTINGS_SUBJECT = 'settings'

/** Stored audit records. Stores write each of them in the transaction of the change that it tells of. */
export interface AuditTrail {
  /** A page of the records of a subject, the newest first. */
  page(tenantId: string, subject: string, after: string | undefined, size: number): Promise<Page<AuditRecord>>
}

/** Characters of JSON. The transaction that has the record has the changed document too, and is limited to 2 MB. */
const VALUE_LENGTH_LIMIT = 100_000

/** The fields with different values. A value that is too long is replaced by its length. */
export function changedFields(before: Fields, after: Fields): ChangedFields {
  const changed = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, young] = [JSON.stringify(before[name]), JSON.stringify(after[name])]
    if (old === young) continue
    if (old !== undefined) changed.before[name] = shortened(before[name], old.length)
    if (young !== undefined) changed.after[name] = shortened(after[name], young.length)
  }
  return changed
}

/** Whether any field differs. */
export function hasChanges({ before, after }: ChangedFields): boolean {
  return Object.keys(before).length + Object.keys(after).length > 0
}

function shortened(value: unknown, length: number): unknown {
  return length <= VALUE_LENGTH_LIMIT ? value : { omittedLength: length }
}
