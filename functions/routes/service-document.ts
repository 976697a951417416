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
import { FrequentValue } from '../../shared/domain/collections/frequent-values.ts'
import { MemberDto } from '../../shared/domain/collections/list-members.ts'
import { PeopleQuery, PersonDto } from '../../shared/domain/collections/list-people.ts'
import { PreviewReply, PreviewRequest } from '../../shared/domain/collections/preview.ts'
import { AccountConflict } from '../../shared/domain/connectors/account-claims.ts'
import { ConnectorUpdate, NewConnector } from '../../shared/domain/connectors/connector.ts'
import { ConnectorAuditEntry } from '../../shared/domain/connectors/connector-audit.ts'
import { ConnectorRecord } from '../../shared/domain/connectors/connector-health.ts'
import { ConnectorObjectDto } from '../../shared/domain/connectors/connector-object.ts'
import { Duplicate } from '../../shared/domain/connectors/duplicates.ts'
import { IdentityChange } from '../../shared/domain/connectors/identity-change.ts'
import { ConnectorPlan } from '../../shared/domain/connectors/plan-connector.ts'
import { IdentitySource } from '../../shared/domain/connectors/read-sources.ts'
import { ListedReference } from '../../shared/domain/connectors/unresolved-references.ts'
import { EventDelivery } from '../../shared/domain/events/delivery.ts'
import { Redelivered, Redelivery } from '../../shared/domain/events/read-deliveries.ts'
import {
  EventSubscription,
  EventSubscriptionUpdate,
  EventSubscriptionWithSecret,
  NewEventSubscription,
} from '../../shared/domain/events/subscription.ts'
import { GroupLinkDto, NewGroupLink } from '../../shared/domain/group-links/group-link.ts'
import { JobChangeDto } from '../../shared/domain/group-links/job-changes.ts'
import { LinkSettingsChange, LinkSettingsDto } from '../../shared/domain/group-links/link-settings.ts'
import { QueuedSync } from '../../shared/domain/group-links/manage-links.ts'
import {
  ApprovedRemovals,
  HeldRemovalsDto,
  RemovalApproval,
  RemovalPlanDto,
  RemovalRejection,
} from '../../shared/domain/group-links/removal-plan.ts'
import { LinkableGroup } from '../../shared/domain/group-links/search-groups.ts'
import { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import { AttentionDto } from '../../shared/domain/insight/attention.ts'
import { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import { CollectionCounts } from '../../shared/domain/insight/collection-counts.ts'
import { CollectionVersion } from '../../shared/domain/insight/collection-versions.ts'
import { ExplainedCondition, Explanation } from '../../shared/domain/insight/explanation.ts'
import { FoundPerson } from '../../shared/domain/insight/find-people.ts'
import { LinkStanding } from '../../shared/domain/insight/link-standing.ts'
import { AuditEntry } from '../../shared/domain/insight/list-audit.ts'
import { HistoryEntry, ObjectHistoryEntry } from '../../shared/domain/insight/list-history.ts'
import { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import { PlannedPeopleQuery } from '../../shared/domain/insight/planned-people.ts'
import { NotificationsDto, NotificationsInput } from '../../shared/domain/mail/notifications.ts'
import { RequestDecision, RequestWithdrawal } from '../../shared/domain/membership-requests/act-on-request.ts'
import {
  AddedMembers,
  MemberAddition,
  MemberChange,
  RemovedMembers,
} from '../../shared/domain/membership-requests/direct-members.ts'
import { MembershipExtension } from '../../shared/domain/membership-requests/extend-membership.ts'
import { JoinPolicyDto, JoinPolicyInput } from '../../shared/domain/membership-requests/join-policy.ts'
import {
  JoinableCollectionDto,
  JoinableCollectionUpdate,
  NewJoinableCollection,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import { DeputyDto, DeputyInput } from '../../shared/domain/membership-requests/manage-deputy.ts'
import { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { Submission, SubmissionOnBehalf } from '../../shared/domain/membership-requests/submit-request.ts'
import { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import { LinkPreview, LinkPreviewInput } from '../../shared/domain/sync/preview-sync.ts'
import { type PublicFiles, textFile } from '../../shared/http/public-files.ts'
import { runToCompletion, type Task } from '../../shared/kernel/cooperative-scheduler.ts'
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
import { CORE_OBJECT_SCHEMAS, IdsBody, OrgUnitIdsBody } from './core-objects.ts'
import { DecisionResult, Decisions } from './deputies.ts'
import { TestedSubscription } from './event-subscriptions.ts'
import { COLLECTION_EXAMPLES, COLLECTION_RESPONSES } from './examples/collection-examples.ts'
import { CORE_DATA_EXAMPLES, CORE_DATA_RESPONSES } from './examples/core-data-examples.ts'
import { EVENT_EXAMPLES, eventDescriptions } from './examples/event-examples.ts'
import { GroupLinkChange } from './group-link.ts'
import { CONDITIONS_PAGE_PATH, DOCUMENT_PATH, REFERENCE_PAGE_PATH } from './prefixes.ts'

export const SERVICE_TITLE = 'Collections, Group Link and Core Objects'

const CONNECTORS: Tag = {
  name: 'Connectors',
  description:
    'Sources of identities, relationships and org units, and the data of each source. Identities of several connectors ' +
    'merge into one core identity by the first key of `joinOn` that both have, by default `nin`, then ' +
    '`directoryObjectId`. Identities with different `nin` never merge. A value that leaves open who is who merges ' +
    'none of them, see `listDuplicates`. Of identities that do not merge, only the first one to claim a `directoryObjectId` ' +
    'has it, see `listAccountConflicts`. Attributes of the oldest connector take precedence; other connectors fill in ' +
    'missing ones. A merged identity keeps the core id from the oldest connector. An external id means ' +
    'one object for ever: a source does not give it to another person, also not when the object can no longer be ' +
    'restored. The object gets the same core id again, and requests and approver entries name the core id.',
}
const TAGS: ApiDescription['tags'] = {
  'collections/beta': { name: 'Collections', description: 'Collections of both kinds, and their members.' },
  'collections-criteria/beta': {
    name: 'Criteria collections',
    description:
      'Collections whose members are the objects that satisfy a condition. The language of conditions, with examples: ' +
      '`/docs/conditions`.',
  },
  'collections-joinable/beta': {
    name: 'Joinable collections and membership requests',
    description:
      'Collections with members by request and approval. When two identities turn out to be one person, the memberships, ' +
      'pending requests, approver entries and conditions of the one that vanishes belong to the one that stays; of two ' +
      'memberships or requests, the older one stays. In a Relationship collection, a membership ends when its position ' +
      'is deleted or handed over. While a join key leaves open whether the new holder is the same person under another ' +
      'external id, the membership stays, and up to a day longer. Two records that share none of `nin`, ' +
      '`directoryObjectId` and `employeeNumber` count as two people once both and the position have not changed for a ' +
      'week, or both for four weeks. ' +
      'Memberships that ended by a deletion come back when the object is restored in time.',
  },
  'group-link/beta': {
    name: 'Group links',
    description: 'Links that keep a directory group in sync with a collection, and their sync jobs.',
  },
  'iamcore/beta/sync/coreobjects': {
    name: 'Core objects',
    description: 'Identities, org units and relationships, merged from all connectors.',
  },
  'iamcore/beta/sync/connectors': CONNECTORS,
  'iamcore/sync/connectors': CONNECTORS,
}

const FILES: readonly FileOperation[] = [
  {
    path: DOCUMENT_PATH,
    operationId: 'readApiDocument',
    summary: 'Get the OpenAPI document',
    description: 'This document, for code generators and other tools.',
    contentType: 'application/json',
    schema: { type: 'object' },
  },
  {
    path: REFERENCE_PAGE_PATH,
    operationId: 'readReferencePage',
    summary: 'Get the reference page',
    description: 'Shows this document in a browser, and sends requests.',
    contentType: 'text/html',
    schema: { type: 'string' },
  },
  {
    path: CONDITIONS_PAGE_PATH,
    operationId: 'readConditionsPage',
    summary: 'Get the page about the language of conditions',
    description: 'Attributes, operators and functions of conditions, with examples.',
    contentType: 'text/html',
    schema: { type: 'string' },
  },
]

/** The OpenAPI document, built at once. */
export const serviceDocument = (): object => runToCompletion(serviceDocumentTask())

export function serviceDocumentTask(): Task<object> {
  return apiDocument({
    title: SERVICE_TITLE,
    version: 'beta',
    groups: routeTables(),
    tags: TAGS,
    schemas: NAMED_SCHEMAS,
    detailedSchemas: { ...conditionComponents(), ...connectorDataComponents() },
    examples: {
      schemas: { ...COLLECTION_EXAMPLES, ...CORE_DATA_EXAMPLES, ...EVENT_EXAMPLES },
      responses: { ...COLLECTION_RESPONSES, ...CORE_DATA_RESPONSES },
    },
    events: eventDescriptions(),
    files: FILES,
  })
}

export function documentFile(document: object): PublicFiles {
  return new Map([[DOCUMENT_PATH, textFile('application/json', () => JSON.stringify(document))]])
}

/** Component names of the document. Generated clients use them as type names. */
const NAMED_SCHEMAS: NamedSchemas = {
  Guid,
  Timestamp,
  Metadata,

  Collection: CollectionDto,
  CollectionResults,
  Member: MemberDto,
  PeopleQuery,
  Person: PersonDto,
  Attention: AttentionDto,
  CollectionCounts,
  CollectionVersion,
  FoundPerson,
  Membership: MembershipDto,
  Explanation,
  AuditEntry,
  HistoryEntry,
  ObjectHistoryEntry,
  ChangePlan,
  ExplainedCondition,
  LinkStanding,
  FilterMembersRequest,
  Caller: CallerDto,
  Notifications: NotificationsDto,
  NotificationsInput,

  Condition,
  CriteriaCollection: CriteriaCollectionDto,
  NewCriteriaCollection,
  CriteriaCollectionUpdate,
  PlannedPeopleQuery,
  CriteriaPreviewRequest: PreviewRequest,
  CriteriaPreview: PreviewReply,
  TenantSchemas,
  FrequentValue,

  JoinableCollection: JoinableCollectionDto,
  NewJoinableCollection,
  JoinableCollectionUpdate,
  JoinPolicy: JoinPolicyDto,
  JoinPolicyInput,
  MemberChange,
  MemberAddition,
  AddedMembers,
  RemovedMembers,
  MembershipRequest: MembershipRequestDto,
  RequestInput: Submission,
  RequestInputOnBehalf: SubmissionOnBehalf,
  RequestDecision,
  RequestWithdrawal,
  MembershipExtension,
  Deputy: DeputyDto,
  DeputyInput,
  Decisions,
  DecisionResult,

  EventSubscription,
  EventSubscriptionWithSecret,
  NewEventSubscription,
  EventSubscriptionUpdate,
  TestedSubscription,
  EventDelivery,
  Redelivery,
  Redelivered,

  GroupLink: GroupLinkDto,
  NewGroupLink,
  GroupLinkChange,
  GroupLinkPreviewRequest: LinkPreviewInput,
  GroupLinkPreview: LinkPreview,
  LinkableGroup,
  SyncJob: SyncJobDto,
  SyncJobChange: JobChangeDto,
  QueuedSync,
  LinkSettings: LinkSettingsDto,
  LinkSettingsChange,
  HeldRemovals: HeldRemovalsDto,
  RemovalPlan: RemovalPlanDto,
  RemovalApproval,
  RemovalRejection,
  ApprovedRemovals,

  AccountConflict,
  Identity: CORE_OBJECT_SCHEMAS.identity,
  OrgUnit: CORE_OBJECT_SCHEMAS.orgUnit,
  Relationship: CORE_OBJECT_SCHEMAS.relationship,
  Several: IdsBody,
  SeveralOrgUnits: OrgUnitIdsBody,

  IdentitySource,
  IdentityChange,
  ConnectorAuditEntry,
  Connector: ConnectorRecord,
  ListedReference,
  ConnectorPlan,
  Duplicate,
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
