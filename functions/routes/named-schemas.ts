import { CollectionRecord, CollectionResults, Metadata } from '../../shared/domain/collections/collection.ts'
import {
  Condition,
  CriteriaCollectionRecord,
  CriteriaCollectionUpdate,
  NewCriteriaCollection,
} from '../../shared/domain/collections/criteria-collection.ts'
import { PreviewReply, PreviewRequest } from '../../shared/domain/collections/preview.ts'
import { TenantSchemas } from '../../shared/domain/collections/tenant-schemas.ts'
import { Connector, ConnectorUpdate, NewConnector } from '../../shared/domain/connectors/connector.ts'
import { ConnectorObjectDto } from '../../shared/domain/connectors/connector-object.ts'
import { GroupLink, NewGroupLink } from '../../shared/domain/group-links/group-link.ts'
import { QueuedSync } from '../../shared/domain/group-links/request-sync.ts'
import { SyncJob } from '../../shared/domain/group-links/sync-job.ts'
import { RequestWithdrawal } from '../../shared/domain/membership-requests/act-on-request.ts'
import { AddedMembers, MemberChange, RemovedMembers } from '../../shared/domain/membership-requests/direct-members.ts'
import { JoinPolicyDto, JoinPolicyInput } from '../../shared/domain/membership-requests/join-policy.ts'
import {
  JoinableCollectionDto,
  JoinableCollectionUpdate,
  NewJoinableCollection,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { Submission, SubmissionOnBehalf } from '../../shared/domain/membership-requests/submit-request.ts'
import { LinkPreview, LinkPreviewInput } from '../../shared/domain/sync/preview-sync.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { Timestamp } from '../../shared/kernel/timestamp.ts'
import type { NamedSchemas } from '../../shared/openapi/schemas.ts'
import {
  Batch,
  BatchItem,
  BatchItemResult,
  ConnectorData,
  ConnectorObjectReplacement,
  NewConnectorObject,
} from './connector-data.ts'
import { CORE_OBJECT_RECORDS, Several, SeveralWithParents } from './core-objects.ts'
import { FilterMembersRequest } from './filter-members.ts'
import { GroupLinkChange } from './group-link.ts'

/** What the document calls the schemas of the service: what generated clients call their types. */
export const NAMED_SCHEMAS: NamedSchemas = {
  Guid,
  Timestamp,
  Metadata,

  Collection: CollectionRecord,
  CollectionResults,
  FilterMembersRequest,

  Condition,
  CriteriaCollection: CriteriaCollectionRecord,
  NewCriteriaCollection,
  CriteriaCollectionUpdate,
  CriteriaPreviewRequest: PreviewRequest,
  CriteriaPreview: PreviewReply,
  TenantSchemas,

  JoinableCollection: JoinableCollectionDto,
  NewJoinableCollection,
  JoinableCollectionUpdate,
  JoinPolicy: JoinPolicyDto,
  JoinPolicyInput,
  MemberChange,
  AddedMembers,
  RemovedMembers,
  MembershipRequest: MembershipRequestDto,
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
  ConnectorObject: ConnectorObjectDto,
  ConnectorData,
  NewConnectorObject,
  ConnectorObjectReplacement,
  Batch,
  BatchItem,
  BatchItemResult,
}
