import { Closed, Guid } from '../kernel/schema.ts'

/** The messages of each queue: names of things to look at, and nothing else. */
export const EvaluationMessage = Closed({ tenantId: Guid })
export const MembershipChangeMessage = Closed({ tenantId: Guid, collectionId: Guid })
export const SweepMessage = Closed({ tenantId: Guid })
export const SyncJobMessage = Closed({ tenantId: Guid, jobId: Guid })
