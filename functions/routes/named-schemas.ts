import {
  CollectionDto,
  CollectionResults,
  Condition,
  CriteriaCollectionDto,
  CriteriaCollectionUpdate,
  Metadata,
  NewCriteriaCollection,
} from '../../shared/domain/collections/collection.ts'
import { TenantSchemas } from '../../shared/domain/collections/condition-entry.ts'
import { PreviewReply, PreviewRequest } from '../../shared/domain/collections/preview.ts'
import { Connector, ConnectorUpdate, NewConnector } from '../../shared/domain/connectors/connector.ts'
import { ConnectorObjectRecord } from '../../shared/domain/connectors/connector-object.ts'
import { GroupLink, NewGroupLink } from '../../shared/domain/group-links/group-link.ts'
import { QueuedSync } from '../../shared/domain/group-links/request-sync.ts'
import { SyncJob } from '../../shared/domain/group-links/sync-job.ts'
import { RequestWithdrawal } from '../../shared/domain/membership-requests/act-on-request.ts'
import { AddedMembers, MemberChange, RemovedMembers } from '../../shared/domain/membership-requests/direct-members.ts'
import { JoinPolicyInput, JoinPolicyRecord } from '../../shared/domain/membership-requests/join-policy.ts'
import {
  JoinableCollectionRecord,
  JoinableCollectionUpdate,
  NewJoinableCollection,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import { MembershipRequestRecord } from '../../shared/domain/membership-requests/membership-request.ts'
import { Submission, SubmissionOnBehalf } from '../../shared/domain/membership-requests/submit-request.ts'
import { LinkPreview, LinkPreviewInput } from '../../shared/domain/sync/preview-sync.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { Timestamp } from '../../shared/kernel/timestamp.ts'
import type { NamedSchemas } from '../../shared/openapi/schemas.ts'
import { Batch, BatchItem, BatchItemResult, Data, NewObject, ObjectReplacement } from './connector-data.ts'
import { CORE_OBJECT_RECORDS, Several, SeveralWithParents } from './core-objects.ts'
import { FilterMembersRequest } from './filter-members.ts'
import { GroupLinkChange } from './group-link.ts'

/** What the document calls the schemas of the service: what generated clients call their types. */
export const NAMED_SCHEMAS: NamedSchemas = {
  Guid,
  Timestamp,
  Metadata,

  Collection: CollectionDto,
  CollectionResults,
  FilterMembersRequest,

  Condition,
  CriteriaCollection: CriteriaCollectionDto,
  NewCriteriaCollection,
  CriteriaCollectionUpdate,
  CriteriaPreviewRequest: PreviewRequest,
  CriteriaPreview: PreviewReply,
  TenantSchemas,

  JoinableCollection: JoinableCollectionRecord,
  NewJoinableCollection,
  JoinableCollectionUpdate,
  JoinPolicy: JoinPolicyRecord,
  JoinPolicyInput,
  MemberChange,
  AddedMembers,
  RemovedMembers,
  MembershipRequest: MembershipRequestRecord,
  // Approving and rejecting take the same as submitting.
  RequestInput: Submission,
  RequestInputOnBehalf: SubmissionOnBehalf,
  RequestWithdrawal,

  GroupLink,
  NewGroupLink,
  GroupLinkChange,
  GroupLinkPreviewRequest: LinkPreviewInput,
  GroupLinkPreview: LinkPreview,
  SyncJob,
  QueuedSync,

  Identity: CORE_OBJECT_RECORDS.identity,
  OrgUnit: CORE_OBJECT_RECORDS.orgUnit,
  Relationship: CORE_OBJECT_RECORDS.relationship,
  Several,
  SeveralOrgUnits: SeveralWithParents,

  Connector,
  NewConnector,
  ConnectorUpdate,
  ConnectorObject: ConnectorObjectRecord,
  ConnectorData: Data,
  NewConnectorObject: NewObject,
  ConnectorObjectReplacement: ObjectReplacement,
  Batch,
  BatchItem,
  BatchItemResult,
}
