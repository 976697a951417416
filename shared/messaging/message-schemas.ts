import { Type } from 'typebox'
import { Closed, Guid } from '../kernel/schema.ts'

/** The schemas of the messages. They contain ids only. */
export const EvaluationMessage = Closed({ tenantId: Guid })
export const MembershipChangeMessage = Closed({ tenantId: Guid, collectionId: Guid })
export const SweepMessage = Closed({ tenantId: Guid })
/** `after`: the core object after which an audit continues that began at `beganAtMs`. */
export const AuditMessage = Closed({
  tenantId: Guid,
  after: Type.Optional(Guid),
  beganAtMs: Type.Optional(Type.Number()),
})
export const SyncJobMessage = Closed({ tenantId: Guid, jobId: Guid })
