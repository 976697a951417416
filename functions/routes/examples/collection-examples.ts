import type {
  CollectionDto,
  CollectionResults,
  CriteriaCollectionDto,
  CriteriaCollectionUpdate,
  NewCriteriaCollection,
} from '../../../shared/domain/collections/collection.ts'
import type { TenantSchemas } from '../../../shared/domain/collections/condition-entry.ts'
import type { FrequentValue } from '../../../shared/domain/collections/frequent-values.ts'
import type { MemberDto } from '../../../shared/domain/collections/list-members.ts'
import type { PeopleQuery, PersonDto } from '../../../shared/domain/collections/list-people.ts'
import type { PreviewReply, PreviewRequest } from '../../../shared/domain/collections/preview.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { AttentionDto } from '../../../shared/domain/insight/attention.ts'
import type { ChangePlan } from '../../../shared/domain/insight/change-plan.ts'
import type { CollectionCounts } from '../../../shared/domain/insight/collection-counts.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import type { Explanation } from '../../../shared/domain/insight/explanation.ts'
import type { FoundPerson } from '../../../shared/domain/insight/find-people.ts'
import type { AuditEntry } from '../../../shared/domain/insight/list-audit.ts'
import type { HistoryEntry } from '../../../shared/domain/insight/list-history.ts'
import type { MembershipDto } from '../../../shared/domain/insight/list-memberships.ts'
import type { JoinPolicyInput } from '../../../shared/domain/membership-requests/join-policy.ts'
import type {
  JoinableCollectionDto,
  JoinableCollectionUpdate,
  NewJoinableCollection,
} from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { DeputyDto } from '../../../shared/domain/membership-requests/manage-deputy.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { CallerDto } from '../../../shared/domain/object-access/read-caller.ts'
import {
  ACCOUNT_ID,
  CREATED_AT,
  CRITERIA_COLLECTION_ID,
  GROUP_ID,
  IDENTITY_ID,
  JOINABLE_COLLECTION_ID,
  LINK_ID,
  MANAGER_ID,
  ORG_UNIT_ID,
  RELATIONSHIP_ID,
  REQUEST_ID,
  TENANT_ID,
  UPDATED_AT,
} from './core-data-examples.ts'

const END_DATE = { id: 'relationshipEndDate', field: 'relationshipEndDate' }

/** Nurses and head nurses whose relationship has not ended. */
const VERSION_ID = '5d7f9b1c-3e5a-4c7d-9f1b-2a4c6e8d0b13'
const CONDITION: WireGroup = {
  groupOperator: 'AND',
  conditions: [
    { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'In', value: ['Nurse', 'Head Nurse'] },
    {
      groupOperator: 'OR',
      conditions: [
        { ...END_DATE, operator: 'IsNull' },
        { ...END_DATE, operator: 'GreaterThanOrEqual', value: 'Today()' },
      ],
    },
  ],
}

const NURSES = {
  objectType: 'Relationship',
  name: 'Nurses',
  description: 'Everyone who works as a nurse today',
} as const
const METADATA = { tags: ['health'], attributes: { owner: 'nursing' } }
const NEW_CRITERIA_COLLECTION: NewCriteriaCollection = { ...NURSES, condition: CONDITION, metadata: METADATA }
const CRITERIA_UPDATE: CriteriaCollectionUpdate = { objectType: 'Relationship', description: 'Nurses and head nurses' }

const COLLECTION: CollectionDto = {
  id: CRITERIA_COLLECTION_ID,
  ...NURSES,
  metadata: METADATA,
  createdBy: MANAGER_ID,
  createdAt: CREATED_AT,
  updatedAt: UPDATED_AT,
}
const CRITERIA_COLLECTION: CriteriaCollectionDto = { ...COLLECTION, condition: CONDITION }

const RESULTS: CollectionResults = {
  collectionId: CRITERIA_COLLECTION_ID,
  ...NURSES,
  memberIds: [RELATIONSHIP_ID],
  evaluatedAt: UPDATED_AT,
}

const MEMBER: MemberDto = {
  objectId: RELATIONSHIP_ID,
  relationshipId: RELATIONSHIP_ID,
  displayName: 'Kari Nordmann',
  title: 'Nurse',
  orgUnitName: 'Northern Nursing Home',
  hasAccount: true,
}
const FOUND_PERSON: FoundPerson = {
  identityId: IDENTITY_ID,
  displayName: 'Kari Nordmann',
  title: 'Nurse',
  orgUnitName: 'Ward 3',
  email: 'kari.nordmann@example.com',
  hasAccount: true,
}
const PEOPLE_QUERY: PeopleQuery = { accounts: [ACCOUNT_ID] }
const PERSON: PersonDto = {
  identityId: IDENTITY_ID,
  displayName: 'Kari Nordmann',
  title: 'Nurse',
  orgUnitName: 'Northern Nursing Home',
  directoryObjectId: ACCOUNT_ID,
  directoryUserPrincipalName: 'kari.nordmann@example.com',
}
const MEMBERSHIP: MembershipDto = {
  collectionId: CRITERIA_COLLECTION_ID,
  collectionName: 'Nurses',
  objectType: 'Relationship',
  relationshipId: RELATIONSHIP_ID,
  since: UPDATED_AT,
  cause: 'ObjectChanged',
  actorId: 'system',
  endsAt: null,
  links: [{ linkId: LINK_ID, directoryGroupId: GROUP_ID, displayName: 'All nurses', state: 'Written' }],
}
/** A nurse who is a member by her title alone. */
const EXPLANATION: Explanation = {
  collectionId: CRITERIA_COLLECTION_ID,
  objectId: RELATIONSHIP_ID,
  verdict: 'Member',
  isMember: true,
  satisfies: true,
  evaluatedAt: UPDATED_AT,
  rowCount: 1,
  rows: [
    {
      identityId: IDENTITY_ID,
      relationshipId: RELATIONSHIP_ID,
      orgUnitId: ORG_UNIT_ID,
      holds: true,
      condition: {
        groupOperator: 'AND',
        holds: true,
        conditions: [
          {
            id: 'relationshipTitle',
            field: 'relationshipTitle',
            operator: 'In',
            value: ['Nurse', 'Head Nurse'],
            holds: true,
            actual: 'Nurse',
            decides: true,
          },
        ],
      },
    },
  ],
  request: null,
  since: UPDATED_AT,
  cause: 'ObjectChanged',
  until: null,
  links: [{ linkId: LINK_ID, directoryGroupId: GROUP_ID, directoryObjectId: ACCOUNT_ID, state: 'Written' }],
}
const HISTORY_ENTRY: HistoryEntry = {
  at: UPDATED_AT,
  objectId: RELATIONSHIP_ID,
  relationshipId: RELATIONSHIP_ID,
  change: 'Added',
  cause: 'DefinitionChanged',
  actorId: MANAGER_ID,
  requestId: null,
  until: null,
  membershipVersion: 17,
}
const AUDIT_ENTRY: AuditEntry = {
  at: UPDATED_AT,
  actorId: MANAGER_ID,
  action: 'Updated',
  version: VERSION_ID,
  linkId: null,
  before: { name: 'Nurse' },
  after: { name: 'Nurses' },
}
const ATTENTION: AttentionDto = {
  failedLinks: 0,
  pausedLinks: 2,
  heldRemovals: 1,
  lateConnectors: null,
  unresolvedReferences: null,
  accountConflicts: null,
  duplicates: null,
  toDecide: 3,
  ending: 0,
}
const COLLECTION_VERSION: CollectionVersion = {
  collectionId: CRITERIA_COLLECTION_ID,
  version: VERSION_ID,
  at: UPDATED_AT,
  actorId: MANAGER_ID,
  objectType: 'Relationship',
  name: 'Nurses',
  description: '',
  metadata: { tags: [], attributes: {} },
  condition: CONDITION,
  joinPolicy: null,
}
const CALLER: CallerDto = {
  tenantId: TENANT_ID,
  objectId: ACCOUNT_ID,
  kind: 'User',
  identityId: IDENTITY_ID,
  displayName: 'Kari Nordmann',
  roles: ['User'],
  timeZone: 'Europe/Oslo',
}
const COUNTS: CollectionCounts = { collectionId: CRITERIA_COLLECTION_ID, memberCount: 412, linkCount: 1 }

const PREVIEW: PreviewRequest = {
  currentId: CRITERIA_COLLECTION_ID,
  limit: 100,
  preview: { objectType: 'Relationship', condition: CONDITION },
}
const PREVIEWED = { objectId: RELATIONSHIP_ID, displayName: 'Kari Nordmann, Nurse' }
const PREVIEW_REPLY: PreviewReply = {
  preview: [PREVIEWED],
  added: [PREVIEWED],
  removed: [],
  counts: { preview: 1, added: 1, removed: 0 },
  warnings: [],
}

const CHANGE_PLAN: ChangePlan = {
  planId: 'p1_Vb0hZqLwX2sYk5mJt8cRr3nUe7aGdQfO1iPxS9vTzAw',
  expiresAt: UPDATED_AT,
  collections: [{ collectionId: CRITERIA_COLLECTION_ID, name: 'Nurses', added: 3, removed: 40 }],
  links: [
    {
      linkId: LINK_ID,
      directoryGroupId: GROUP_ID,
      toAdd: 3,
      toRemove: 38,
      pausedRemovals: 0,
      pausedBy: null,
      wouldHold: true,
    },
  ],
  requests: { becomeEligible: 3, loseEligibility: 1 },
  warnings: [
    {
      code: 'ValueNotInData',
      message: 'No object has the value Head Nurse for relationshipTitle',
      target: '/conditions/0/value/1',
    },
    {
      code: 'WouldHold',
      message: `The removal guard would hold the removal of 38 accounts from the group Nurses (link ${LINK_ID})`,
      target: '',
    },
  ],
  equivalentTo: [{ collectionId: '5e0b1a52-93c6-4d0c-8f5e-2c1d7a94b3e6', name: 'Nursing staff' }],
}

const ATTRIBUTES = {
  identityDisplayName: 'String',
  identityDirectoryObjectId: 'Guid',
  'identityCustom/licence_plate': 'String',
  relationshipTitle: 'String',
  relationshipEndDate: 'DateTime',
  orgUnitDeputies: 'List',
  memberOfCollection: 'Guid',
}
const FREQUENT_VALUE: FrequentValue = { value: 'Nurse', objectCount: 412 }
const SCHEMAS: TenantSchemas = {
  identitySchema: ATTRIBUTES,
  relationshipSchema: ATTRIBUTES,
  orgUnitSchema: ATTRIBUTES,
  userSchema: {},
  groupSchema: {},
}

const POLICY = {
  approvalRequired: true,
  approvalGates: [
    {
      order: 1,
      type: 'Manager',
      reminderDays: 3,
      fallback: { afterDays: 7, type: 'Identity', approvers: [MANAGER_ID] },
    },
    { order: 2, type: 'Identity', approvers: [MANAGER_ID] },
  ],
  joinableBy: { collectionIds: [CRITERIA_COLLECTION_ID] },
  maxDays: 365,
  requestDays: 30,
  rejectionNeedsReason: true,
} satisfies JoinPolicyInput
const FIRST_AIDERS = { objectType: 'Relationship', name: 'First aiders' } as const
const NEW_JOINABLE_COLLECTION: NewJoinableCollection = { ...FIRST_AIDERS, joinPolicy: POLICY }
const JOINABLE_UPDATE: JoinableCollectionUpdate = {
  objectType: 'Relationship',
  joinPolicy: { approvalRequired: false },
}

const JOINABLE_COLLECTION: JoinableCollectionDto = {
  id: JOINABLE_COLLECTION_ID,
  ...FIRST_AIDERS,
  description: null,
  metadata: { tags: [], attributes: {} },
  createdBy: MANAGER_ID,
  createdAt: CREATED_AT,
  updatedAt: UPDATED_AT,
  joinPolicy: {
    ...POLICY,
    approvalGates: [
      {
        order: 1,
        type: 'Manager',
        approvers: [],
        reminderDays: 3,
        fallback: { afterDays: 7, type: 'Identity', approvers: [MANAGER_ID] },
      },
      { order: 2, type: 'Identity', approvers: [MANAGER_ID] },
    ],
  },
}

const REQUEST: MembershipRequestDto = {
  id: REQUEST_ID,
  collectionId: JOINABLE_COLLECTION_ID,
  requesterId: IDENTITY_ID,
  submittedBy: IDENTITY_ID,
  relationshipId: RELATIONSHIP_ID,
  status: 'PendingApproval',
  currentGate: { order: 1, type: 'Manager', approverCount: 1 },
  notes: 'I took the course',
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  lifecycle: [
    { status: 'Requested', actorId: IDENTITY_ID, at: CREATED_AT, notes: 'I took the course' },
    { status: 'PendingApproval', actorId: 'system', at: CREATED_AT, gate: { order: 1, type: 'Manager' } },
  ],
  collectionName: 'First aiders',
  requesterName: 'Kari Nordmann',
  endsAt: '2027-02-11T00:00:00.000+00:00',
  extension: null,
  relationshipTitle: 'Nurse',
  submittedByName: 'Kari Nordmann',
  orgUnitName: 'Ward 3',
  managerNames: ['Ola Nordmann'],
  approverNames: ['Ola Nordmann'],
  actorNames: { [IDENTITY_ID]: 'Kari Nordmann' },
}
const ON_BEHALF: MembershipRequestDto = { ...REQUEST, submittedBy: MANAGER_ID, submittedByName: 'Ola Nordmann' }

/** Pending at the second gate. */
const APPROVED: MembershipRequestDto = {
  ...REQUEST,
  currentGate: { order: 2, type: 'Identity', approverCount: 1 },
  updatedAt: UPDATED_AT,
  lifecycle: [
    ...REQUEST.lifecycle,
    { status: 'Approved', actorId: MANAGER_ID, at: UPDATED_AT, gate: { order: 1, type: 'Manager' } },
    { status: 'PendingApproval', actorId: 'system', at: UPDATED_AT, gate: { order: 2, type: 'Identity' } },
  ],
}

const ended = (status: MembershipRequestDto['status'], actorId: string): MembershipRequestDto => ({
  ...REQUEST,
  status,
  currentGate: null,
  updatedAt: UPDATED_AT,
  lifecycle: [...REQUEST.lifecycle, { status, actorId, at: UPDATED_AT }],
})

/** The extension of a membership, which waits for the manager. */
const EXTENDED: MembershipRequestDto = {
  ...ended('Joined', MANAGER_ID),
  extension: {
    endsAt: '2028-02-11T00:00:00.000+00:00',
    requestedBy: IDENTITY_ID,
    requestedAt: UPDATED_AT,
    currentGate: { order: 1, type: 'Manager', approverCount: 1 },
  },
}

const DEPUTY: DeputyDto = {
  identityId: MANAGER_ID,
  deputyId: IDENTITY_ID,
  deputyName: 'Kari Nordmann',
  from: '2026-07-01T00:00:00.000+00:00',
  until: '2026-08-01T00:00:00.000+00:00',
}

/** Examples of collections and requests, by component name. */
export const COLLECTION_EXAMPLES = {
  Guid: CRITERIA_COLLECTION_ID,
  Collection: COLLECTION,
  CollectionResults: RESULTS,
  Member: MEMBER,
  PeopleQuery: PEOPLE_QUERY,
  Person: PERSON,
  Attention: ATTENTION,
  CollectionCounts: COUNTS,
  CollectionVersion: COLLECTION_VERSION,
  FoundPerson: FOUND_PERSON,
  Membership: MEMBERSHIP,
  Explanation: EXPLANATION,
  AuditEntry: AUDIT_ENTRY,
  HistoryEntry: HISTORY_ENTRY,
  ObjectHistoryEntry: { collectionId: CRITERIA_COLLECTION_ID, ...HISTORY_ENTRY },
  Caller: CALLER,
  FilterMembersRequest: { ids: [RELATIONSHIP_ID, IDENTITY_ID] },
  CriteriaCollection: CRITERIA_COLLECTION,
  NewCriteriaCollection: NEW_CRITERIA_COLLECTION,
  CriteriaCollectionUpdate: CRITERIA_UPDATE,
  PlannedPeopleQuery: { ...CRITERIA_UPDATE, collectionId: CRITERIA_COLLECTION_ID, change: 'added' },
  CriteriaPreviewRequest: PREVIEW,
  CriteriaPreview: PREVIEW_REPLY,
  ChangePlan: CHANGE_PLAN,
  TenantSchemas: SCHEMAS,
  FrequentValue: FREQUENT_VALUE,
  JoinableCollection: JOINABLE_COLLECTION,
  NewJoinableCollection: NEW_JOINABLE_COLLECTION,
  JoinableCollectionUpdate: JOINABLE_UPDATE,
  MemberChange: { coreIdentityIds: [IDENTITY_ID] },
  MemberAddition: { coreIdentityIds: [IDENTITY_ID], endsAt: '2027-02-11' },
  AddedMembers: { added: 1, alreadyMembers: 0 },
  RemovedMembers: { removed: 1, notMembers: 0 },
  MembershipRequest: REQUEST,
  RequestInput: { notes: 'I took the course', relationshipId: RELATIONSHIP_ID, endsAt: '2027-02-11' },
  RequestDecision: { notes: 'Welcome' },
  Deputy: DEPUTY,
  DeputyInput: { deputyId: IDENTITY_ID, from: '2026-07-01', until: '2026-08-01' },
  Decisions: {
    decisions: [
      { collectionId: JOINABLE_COLLECTION_ID, requestId: REQUEST_ID, decision: 'Approve' },
      { collectionId: JOINABLE_COLLECTION_ID, requestId: LINK_ID, decision: 'Reject', notes: 'The course is full' },
    ],
  },
  DecisionResult: { index: 0, status: 200 },
  MembershipExtension: { endsAt: '2028-02-11', notes: 'I took the course again' },
  RequestInputOnBehalf: { notes: 'She took the course', requesterId: IDENTITY_ID },
  RequestWithdrawal: {},
}

/** The `data` of responses that differ from the example of their schema, by operation id. */
export const COLLECTION_RESPONSES = {
  filterCollectionMembers: [RELATIONSHIP_ID],
  filterCriteriaMembers: [RELATIONSHIP_ID],
  createJoinableCollection: JOINABLE_COLLECTION_ID,
  planCriteriaCreation: {
    ...CHANGE_PLAN,
    collections: [{ collectionId: null, name: 'Nurses', added: 43, removed: 0 }],
    links: [],
    requests: { becomeEligible: 0, loseEligibility: 0 },
    warnings: [],
    equivalentTo: [],
  },
  getJoinableResults: {
    collectionId: JOINABLE_COLLECTION_ID,
    ...FIRST_AIDERS,
    description: null,
    memberIds: [{ objectId: IDENTITY_ID, relationshipId: RELATIONSHIP_ID }],
    evaluatedAt: UPDATED_AT,
  },
  submitRequestOnBehalf: ON_BEHALF,
  listSubmittedOnBehalf: [ON_BEHALF],
  approveRequest: APPROVED,
  rejectRequest: ended('Rejected', MANAGER_ID),
  cancelRequest: ended('Cancelled', IDENTITY_ID),
  leaveRequest: ended('Left', IDENTITY_ID),
  extendMembership: EXTENDED,
  getDeputy: DEPUTY,
  decideRequests: [
    { index: 0, status: 200 },
    {
      index: 1,
      status: 409,
      errors: [{ code: 'InvalidRequestState', message: `Request ${LINK_ID} is Rejected` }],
    },
  ],
}
