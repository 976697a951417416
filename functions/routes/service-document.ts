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
import { GroupLinkDto, NewGroupLink } from '../../shared/domain/group-links/group-link.ts'
import { QueuedSync } from '../../shared/domain/group-links/manage-links.ts'
import { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
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
import type { PublicFiles } from '../../shared/http/public-files.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { Timestamp } from '../../shared/kernel/timestamp.ts'
import { conditionComponents } from '../../shared/openapi/condition-schemas.ts'
import { connectorDataComponents } from '../../shared/openapi/connector-data-schemas.ts'
import { type ApiDescription, apiDocument, type Tag } from '../../shared/openapi/document.ts'
import type { FileOperation } from '../../shared/openapi/public-operations.ts'
import type { NamedSchemas } from '../../shared/openapi/schemas.ts'
import { routeTables } from './all-routes.ts'
import { FilterMembersRequest } from './collection-contract.ts'
import {
  BatchBody,
  BatchItemBody,
  BatchItemResult,
  NewObjectBody,
  ObjectDataBody,
  ReplacementBody,
} from './connector-data.ts'
import { CORE_OBJECT_RECORDS, IdsBody, OrgUnitIdsBody } from './core-objects.ts'
import {
  COLLECTION_EXAMPLES,
  COLLECTION_RESPONSES,
  REQUEST_EXAMPLES,
  REQUEST_RESPONSES,
} from './examples/collection-examples.ts'
import {
  CORE_DATA_EXAMPLES,
  CORE_DATA_RESPONSES,
  LINK_EXAMPLES,
  LINK_RESPONSES,
} from './examples/core-data-examples.ts'
import { GroupLinkChange } from './group-link.ts'
import { DOCUMENT_PATH, REFERENCE_PAGE_PATH } from './prefixes.ts'

export const SERVICE_TITLE = 'Collections, Group Link and Core Objects'

const CONNECTORS: Tag = {
  name: 'Connectors',
  description:
    'Where people, positions and org units come from, and what each source says of them. Two sources speak of one ' +
    'person when they give the same `nin` or, where one gives none, the same `directoryObjectId`; people of different ' +
    '`nin` are never joined, whatever account they share. Of several with the account, whoever has no `nin` goes with ' +
    "the oldest connector's. Attributes of the oldest connector win, the others fill what is missing. When two turn " +
    "out to be one, the core id of the older connector's stays.",
}
const TAGS: ApiDescription['tags'] = {
  'collections/beta': { name: 'Collections', description: 'Reading collections of either kind, and who is in them.' },
  'collections-criteria/beta': {
    name: 'Criteria collections',
    description: 'Collections that a condition fills: whoever satisfies it is a member, within seconds.',
  },
  'collections-joinable/beta': {
    name: 'Joinable collections and membership requests',
    description: 'Collections that people ask to join, and those who decide on it.',
  },
  'group-link/beta': {
    name: 'Group links',
    description: 'Keeping a group of the directory equal to a collection, and the jobs that do it.',
  },
  'iamcore/beta/sync/coreobjects': {
    name: 'Core objects',
    description: 'Reading identities, org units and relationships, as merged from all connectors.',
  },
  'iamcore/beta/sync/connectors': CONNECTORS,
  'iamcore/sync/connectors': CONNECTORS,
}

const FILES: readonly FileOperation[] = [
  {
    path: DOCUMENT_PATH,
    operationId: 'readApiDocument',
    summary: 'This document',
    contentType: 'application/json',
    schema: { type: 'object' },
  },
  {
    path: REFERENCE_PAGE_PATH,
    operationId: 'readReferencePage',
    summary: 'This document as a page to read, and to try the API from',
    contentType: 'text/html',
    schema: { type: 'string' },
  },
]

/** The description of the whole API, OpenAPI 3.1. */
export function serviceDocument(): object {
  return apiDocument({
    title: SERVICE_TITLE,
    version: 'beta',
    groups: routeTables(),
    tags: TAGS,
    schemas: NAMED_SCHEMAS,
    detailedSchemas: {
      ...conditionComponents(),
      ...connectorDataComponents(),
    },
    examples: {
      schemas: { ...COLLECTION_EXAMPLES, ...REQUEST_EXAMPLES, ...LINK_EXAMPLES, ...CORE_DATA_EXAMPLES },
      responses: { ...COLLECTION_RESPONSES, ...REQUEST_RESPONSES, ...LINK_RESPONSES, ...CORE_DATA_RESPONSES },
    },
    files: FILES,
  })
}

/** The document as it is served. */
export function documentFile(): PublicFiles {
  const read = () => Buffer.from(JSON.stringify(serviceDocument()))
  return new Map([[DOCUMENT_PATH, { contentType: 'application/json; charset=utf-8', read }]])
}

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

  GroupLink: GroupLinkDto,
  NewGroupLink,
  GroupLinkChange,
  GroupLinkPreviewRequest: LinkPreviewInput,
  GroupLinkPreview: LinkPreview,
  SyncJob: SyncJobDto,
  QueuedSync,

  Identity: CORE_OBJECT_RECORDS.identity,
  OrgUnit: CORE_OBJECT_RECORDS.orgUnit,
  Relationship: CORE_OBJECT_RECORDS.relationship,
  Several: IdsBody,
  SeveralOrgUnits: OrgUnitIdsBody,

  Connector,
  NewConnector,
  ConnectorUpdate,
  ConnectorObject: ConnectorObjectDto,
  ConnectorData: ObjectDataBody,
  NewConnectorObject: NewObjectBody,
  ConnectorObjectReplacement: ReplacementBody,
  Batch: BatchBody,
  BatchItem: BatchItemBody,
  BatchItemResult,
}
