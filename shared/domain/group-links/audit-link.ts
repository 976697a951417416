import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { type AuditRecord, changedFields, hasChanges } from '../history/audit.ts'
import type { GroupLink } from './group-link.ts'

/** Who acts on a link: see `actorIdOf`. Without one, the service itself. */
export type LinkActor = { readonly actorId?: string | undefined }

type AuditDependencies = { newId(): string; nowMs(): number }

/** The audit record of an action on a link. */
export function auditOfLink(
  { tenantId, id: linkId, collectionId: subject }: GroupLink,
  action: 'LinkCreated' | 'LinkUpdated' | 'LinkDeleted' | 'RemovalsApproved' | 'RemovalsRejected',
  changed: Pick<AuditRecord, 'before' | 'after'>,
  { actorId = SYSTEM_ACTOR }: LinkActor,
  { newId, nowMs }: AuditDependencies,
): AuditRecord {
  return { id: newId(), tenantId, subject, at: toTimestamp(nowMs()), actorId, action, linkId, ...changed }
}

/** The record of a change of a link; undefined when no field changes. */
export function auditOfLinkChange(
  before: GroupLink,
  after: GroupLink,
  actor: LinkActor,
  deps: AuditDependencies,
): AuditRecord | undefined {
  const fieldsOf = ({ acceptedWithoutAccount, ...link }: GroupLink) => ({
    ...linkFields({ acceptedWithoutAccount, ...link }),
    acceptedWithoutAccount,
  })
  const changed = changedFields(fieldsOf(before), fieldsOf(after))
  return hasChanges(changed) ? auditOfLink(after, 'LinkUpdated', changed, actor, deps) : undefined
}

/** The fields of a link that people set. */
export function linkFields({
  collectionId,
  directoryGroupId,
  state,
  acceptedWithoutAccount,
}: GroupLink): Record<string, unknown> {
  const accepted = acceptedWithoutAccount.length === 0 ? {} : { acceptedWithoutAccount }
  return { collectionId, directoryGroupId, state, ...accepted }
}
