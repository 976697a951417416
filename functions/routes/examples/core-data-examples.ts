import type { ConnectorUpdate, NewConnector } from '../../../shared/domain/connectors/connector.ts'
import type { ConnectorAuditEntry } from '../../../shared/domain/connectors/connector-audit.ts'
import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { ConnectorObjectDto } from '../../../shared/domain/connectors/connector-object.ts'
import type { IdentityChange } from '../../../shared/domain/connectors/identity-change.ts'
import type { IdentitySource } from '../../../shared/domain/connectors/read-sources.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { GroupLinkDto, NewGroupLink } from '../../../shared/domain/group-links/group-link.ts'
import type { JobChangeDto } from '../../../shared/domain/group-links/job-changes.ts'
import type { LinkSettingsDto } from '../../../shared/domain/group-links/link-settings.ts'
import type { HeldRemovalsDto } from '../../../shared/domain/group-links/removal-plan.ts'
import type { LinkableGroup } from '../../../shared/domain/group-links/search-groups.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import type { LinkPreview, LinkPreviewInput } from '../../../shared/domain/sync/preview-sync.ts'

/** All examples of the document describe the same people and objects. */
export const TENANT_ID = '7d2f1c5e-0b7a-4b0e-9a53-2f6f0c1d8e11'
export const IDENTITY_ID = '0f8fad5b-d9cb-469f-a165-70867728950e'
export const MANAGER_ID = '5a3f9c54-7a3e-4f0c-9a55-6b1f4f2b7c01'
export const ORG_UNIT_ID = '9b2e0d8a-3c77-4b8e-8f51-1d7a6c9e2f02'
export const RELATIONSHIP_ID = '3c1d7e6f-5b24-4a9d-b6c3-8e0f2a4d6b03'
export const ACCOUNT_ID = 'c4b8a2d6-1e3f-4c5a-9d7b-0a2c4e6f8b04'
export const CRITERIA_COLLECTION_ID = '5189d97c-0d4e-46ac-b262-637e10e8a179'
export const JOINABLE_COLLECTION_ID = 'e2f4a6c8-9b1d-4e3f-a5c7-7d9b1f3e5a05'
export const REQUEST_ID = 'a7c9e1b3-5d7f-4a2c-8e6b-4f2d0c8a6e06'
export const GROUP_ID = '65cab758-39a2-5671-86fa-6d0d8285c77c'
export const LINK_ID = '14cf4436-d7ef-4ac1-ac5f-916d90eb6c83'
const JOB_ID = 'b85f6154-f417-4419-b879-4f8f72f5afdd'
export const PLAN_ID = '6f0b8d2e-4a1c-8e7f-9b3d-5c7a9e1f3b10'
const ADMINISTRATOR_ID = '8a1c3e5f-7b9d-4f2e-8c6a-0b2d4f6a8c11'
export const CONNECTOR_ID = 'd6b4f2a0-8e6c-4d2b-9f1a-3c5e7a9b1d07'
const CONNECTOR_OBJECT_ID = '2e4c6a8f-1b3d-4f5e-8a7c-9d0b2f4e6c08'
const CONNECTOR_CLIENT_ID = 'f1e3d5c7-b9a8-4c6e-8d2f-5b7a9c1e3d09'

export const CREATED_AT = '2026-02-11T09:14:22.117+00:00'
export const UPDATED_AT = '2026-02-12T07:30:05.482+00:00'
/** `lastUpdated` is in whole seconds. */
const LAST_UPDATED = '2026-02-11T09:14:22+00:00'

const IDENTITY: CoreObjectDto = {
  id: IDENTITY_ID,
  externalId: 'employee-4711',
  displayName: 'Kari Nordmann',
  firstName: 'Kari',
  lastName: 'Nordmann',
  email: 'kari.nordmann@example.org',
  directoryObjectId: ACCOUNT_ID,
  directoryUserPrincipalName: 'kari.nordmann@example.org',
  primaryRelationship: { objectId: RELATIONSHIP_ID },
  'custom/courses': ['First aid', 'Fire safety'],
  'custom/grade': 9,
  'custom/licence_plate': 'AB 12345',
  lastUpdated: LAST_UPDATED,
}

const ORG_UNIT: CoreObjectDto = {
  id: ORG_UNIT_ID,
  externalId: 'unit-12',
  displayName: 'Northern Nursing Home',
  type: 'Department',
  manager: { objectId: MANAGER_ID },
  lastUpdated: LAST_UPDATED,
}

const POSITION = { title: 'Nurse', employeeId: '4711', startDate: '2024-08-01' }
const RELATIONSHIP: CoreObjectDto = {
  id: RELATIONSHIP_ID,
  externalId: 'position-4711-1',
  ...POSITION,
  identity: { objectId: IDENTITY_ID },
  orgUnit: { objectId: ORG_UNIT_ID },
  lastUpdated: LAST_UPDATED,
}

const NEW_CONNECTOR = {
  name: 'Payroll',
  clientId: CONNECTOR_CLIENT_ID,
  softDeletionDays: 90,
  enabled: true,
  bindsAccounts: true,
  authority: 'Full',
  joinOn: ['nin', 'directoryObjectId', 'email'],
  attributeTypes: [
    { objectType: 'identity', name: 'grade', type: 'Integer' },
    { objectType: 'identity', name: 'courses', type: 'StringList' },
  ],
} satisfies NewConnector
const CONNECTOR_UPDATE: ConnectorUpdate = { enabled: false }
const CONNECTOR: ConnectorRecord = {
  id: CONNECTOR_ID,
  ...NEW_CONNECTOR,
  expectedIntervalHours: 24,
  lastDeliveredAt: LAST_UPDATED,
  objectCounts: { identity: 812, orgUnit: 45, relationship: 930 },
  health: 'Unresolved',
  createdAt: CREATED_AT,
  createdBy: MANAGER_ID,
  updatedAt: UPDATED_AT,
}

const DATA = { ...POSITION, identity: { externalId: 'employee-4711' }, orgUnit: { externalId: 'unit-12' } }
const NAMES = { externalId: 'position-4711-1', objectType: 'relationship' } as const
const CONNECTOR_OBJECT: ConnectorObjectDto = {
  id: CONNECTOR_OBJECT_ID,
  ...NAMES,
  data: DATA,
  coreObjectId: RELATIONSHIP_ID,
  lastUpdated: LAST_UPDATED,
}

const NEW_LINK: NewGroupLink = { collectionId: CRITERIA_COLLECTION_ID, directoryGroupId: GROUP_ID }
const LINK: GroupLinkDto = {
  id: LINK_ID,
  ...NEW_LINK,
  directoryTenantId: TENANT_ID,
  createdAt: CREATED_AT,
  createdBy: ADMINISTRATOR_ID,
  state: 'Enabled',
  lastSyncedAt: UPDATED_AT,
  lastSyncOutcome: 'Succeeded',
  directoryGroupDisplayName: 'All nurses',
  heldRemovals: null,
  acceptedWithoutAccount: [],
  syncState: 'InSync',
  pausedBy: null,
}

const SETTINGS: LinkSettingsDto = {
  linkableGroups: 'Any',
  removalGuard: { enabled: true, percent: 20, minimum: 10, fourEyes: true },
  timeZone: 'Europe/Oslo',
  operators: ['operations@example.com'],
  language: 'en',
  updatedAt: UPDATED_AT,
  updatedBy: ADMINISTRATOR_ID,
}

const HELD: HeldRemovalsDto = {
  planId: PLAN_ID,
  reason: 'TooMany',
  count: 31,
  limit: 17,
  removedInWindow: 2,
  groupSize: 89,
  createdAt: UPDATED_AT,
  cause: {
    kind: 'DefinitionChanged',
    actorId: ADMINISTRATOR_ID,
    collectionId: CRITERIA_COLLECTION_ID,
    at: CREATED_AT,
  },
  rejectedBy: null,
  rejectedAt: null,
}

const LINKABLE_GROUP: LinkableGroup = {
  id: GROUP_ID,
  displayName: 'All nurses',
  linkable: false,
  refusal: 'GroupAlreadyLinked',
  linkId: LINK_ID,
}

const PREVIEW_INPUT: LinkPreviewInput = { collectionId: CRITERIA_COLLECTION_ID, groupId: GROUP_ID }
const PREVIEW: LinkPreview = {
  membersToAdd: [ACCOUNT_ID],
  membersToRemove: [],
  membersWithoutEntraAccount: 0,
  groupMemberCount: 12,
}

const JOB: SyncJobDto = {
  id: JOB_ID,
  collectionId: CRITERIA_COLLECTION_ID,
  directoryGroupId: GROUP_ID,
  type: 'LinkCreated',
  status: 'Succeeded',
  attempts: 1,
  added: 89,
  removed: 0,
  skipped: 0,
  held: 0,
  unresolved: [],
  createdAt: CREATED_AT,
  startedAt: CREATED_AT,
  completedAt: UPDATED_AT,
  error: null,
  requestedBy: ADMINISTRATOR_ID,
  approvedPlanId: null,
  approvedBy: null,
  cause: null,
  requestedByName: 'Kari Nordmann',
}

const JOB_CHANGE: JobChangeDto = {
  change: 'Added',
  directoryObjectId: ACCOUNT_ID,
  identityId: IDENTITY_ID,
  displayName: 'Kari Nordmann',
  at: UPDATED_AT,
}

const IDENTITY_SOURCE: IdentitySource = {
  connectorId: CONNECTOR_ID,
  connectorName: 'Payroll',
  externalId: 'employee-4711',
  attributes: { displayName: 'Kari Nordmann', email: 'kari@example.org' },
  used: ['displayName'],
  joinedBy: 'nin',
}

const IDENTITY_CHANGE: IdentityChange = { at: UPDATED_AT, action: 'Merged', connectorId: CONNECTOR_ID }

const CONNECTOR_AUDIT_ENTRY: ConnectorAuditEntry = {
  at: UPDATED_AT,
  actorId: ADMINISTRATOR_ID,
  action: 'Updated',
  before: { bindsAccounts: true },
  after: { bindsAccounts: false },
}

/** Examples of core objects, connectors, group links and sync jobs, by component name. */
export const CORE_DATA_EXAMPLES = {
  Duplicate: { key: 'email', value: 'kari@example.org', identityIds: [IDENTITY_ID, MANAGER_ID] },
  AccountConflict: { directoryObjectId: ACCOUNT_ID, holderId: IDENTITY_ID, claimantIds: [MANAGER_ID] },
  Identity: IDENTITY,
  OrgUnit: ORG_UNIT,
  Relationship: RELATIONSHIP,
  Several: { ids: [IDENTITY_ID] },
  SeveralOrgUnits: { ids: [ORG_UNIT_ID], includeParents: true },
  IdentitySource: IDENTITY_SOURCE,
  IdentityChange: IDENTITY_CHANGE,
  ConnectorAuditEntry: CONNECTOR_AUDIT_ENTRY,
  Connector: CONNECTOR,
  ConnectorPlan: { merged: 25, split: 0, losingAccount: 0, gainingAccount: 25, added: 0, removed: 0 },
  ListedReference: { ...NAMES, attribute: 'identity', reference: 'employee-4711' },
  NewConnector: NEW_CONNECTOR,
  ConnectorUpdate: CONNECTOR_UPDATE,
  ConnectorObject: CONNECTOR_OBJECT,
  NewConnectorObject: { ...NAMES, data: DATA },
  ConnectorObjectReplacement: { data: { ...DATA, title: 'Head Nurse' } },
  Batch: {
    items: [
      { op: 'upsert', ...NAMES, previousExternalId: 'position-0815', data: DATA },
      {
        op: 'upsert',
        objectType: 'identity',
        externalId: 'employee-4711',
        data: { displayName: 'Kari Nordmann', 'custom/grade': 9, 'custom/courses': ['First aid', 'Fire safety'] },
      },
      { op: 'delete', objectType: 'identity', externalId: 'employee-0815' },
    ],
  },
  BatchItemResult: {
    ...{ index: 0, status: 201, id: CONNECTOR_OBJECT_ID },
    warnings: [{ code: 'ReferenceUnresolved', target: '/items/0/data/identity' }],
  },
  GroupLink: LINK,
  NewGroupLink: NEW_LINK,
  GroupLinkChange: { state: 'Disabled' },
  GroupLinkPreview: PREVIEW,
  GroupLinkPreviewRequest: PREVIEW_INPUT,
  LinkableGroup: LINKABLE_GROUP,
  SyncJob: JOB,
  SyncJobChange: JOB_CHANGE,
  QueuedSync: { jobId: JOB_ID, jobIds: [JOB_ID] },
  LinkSettings: SETTINGS,
  LinkSettingsChange: { removalGuard: { percent: 20 } },
  HeldRemovals: HELD,
  RemovalPlan: {
    ...HELD,
    accounts: [{ directoryObjectId: ACCOUNT_ID, identityId: IDENTITY_ID, displayName: 'Kari Nordmann' }],
  },
  RemovalApproval: { notes: 'The ward has closed.' },
  RemovalRejection: { notes: 'The condition is wrong.' },
  ApprovedRemovals: { jobId: JOB_ID },
}

/** The `data` of responses that differ from the example of their schema, by operation id. */
export const CORE_DATA_RESPONSES = {
  createConnector: CONNECTOR_ID,
  listAttributeTypes: NEW_CONNECTOR.attributeTypes,
  createConnectorObject: CONNECTOR_OBJECT_ID,
  updateConnector: { ...CONNECTOR, enabled: false },
  createGroupLink: LINK_ID,
  setGroupLinkState: { ...LINK, state: 'Disabled', syncState: 'Disabled' },
}
