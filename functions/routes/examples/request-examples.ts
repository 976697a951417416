import type { JoinPolicyInput } from '../../../shared/domain/membership-requests/join-policy.ts'
import type {
  JoinableCollectionDto,
  JoinableCollectionUpdate,
  NewJoinableCollection,
} from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import {
  CREATED_AT,
  CRITERIA_COLLECTION_ID,
  IDENTITY_ID,
  JOINABLE_COLLECTION_ID,
  MANAGER_ID,
  RELATIONSHIP_ID,
  REQUEST_ID,
  UPDATED_AT,
} from './example-ids.ts'

const POLICY: JoinPolicyInput = {
  approvalRequired: true,
  approvalGates: [
    { order: 1, type: 'Manager' },
    { order: 2, type: 'Identity', approvers: [MANAGER_ID] },
  ],
  joinableBy: { collectionIds: [CRITERIA_COLLECTION_ID] },
}
const NEW_COLLECTION: NewJoinableCollection = { objectType: 'Relationship', name: 'First aiders', joinPolicy: POLICY }
const UPDATE: JoinableCollectionUpdate = { objectType: 'Relationship', joinPolicy: { approvalRequired: false } }

const RECORD: JoinableCollectionDto = {
  id: JOINABLE_COLLECTION_ID,
  objectType: 'Relationship',
  name: 'First aiders',
  description: null,
  metadata: { tags: [], attributes: {} },
  createdBy: MANAGER_ID,
  createdAt: CREATED_AT,
  updatedAt: UPDATED_AT,
  joinPolicy: {
    approvalRequired: true,
    approvalGates: [
      { order: 1, type: 'Manager', approvers: [] },
      { order: 2, type: 'Identity', approvers: [MANAGER_ID] },
    ],
    joinableBy: { collectionIds: [CRITERIA_COLLECTION_ID] },
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
}
const ON_BEHALF: MembershipRequestDto = { ...REQUEST, submittedBy: MANAGER_ID }

/** It waits at the second gate. */
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

/** Examples of joinable collections and requests, by the name of the schema. */
export const REQUEST_EXAMPLES = {
  JoinableCollection: RECORD,
  NewJoinableCollection: NEW_COLLECTION,
  JoinableCollectionUpdate: UPDATE,
  MemberChange: { coreIdentityIds: [IDENTITY_ID] },
  AddedMembers: { added: 1, alreadyMembers: 0 },
  RemovedMembers: { removed: 1, notMembers: 0 },
  MembershipRequest: REQUEST,
  RequestInput: { notes: 'I took the course', relationshipId: RELATIONSHIP_ID },
  RequestInputOnBehalf: { notes: 'She took the course', requesterId: IDENTITY_ID },
  RequestWithdrawal: {},
}

/** What these operations answer is not what the example of the schema shows. */
export const REQUEST_ANSWERS = {
  createJoinableCollection: JOINABLE_COLLECTION_ID,
  getJoinableResults: {
    collectionId: JOINABLE_COLLECTION_ID,
    name: 'First aiders',
    description: null,
    objectType: 'Relationship',
    memberIds: [{ objectId: IDENTITY_ID, relationshipId: RELATIONSHIP_ID }],
    evaluatedAt: UPDATED_AT,
  },
  submitRequestOnBehalf: ON_BEHALF,
  listSubmittedOnBehalf: [ON_BEHALF],
  approveRequest: APPROVED,
  rejectRequest: ended('Rejected', MANAGER_ID),
  cancelRequest: ended('Cancelled', IDENTITY_ID),
  leaveRequest: ended('Left', IDENTITY_ID),
}
