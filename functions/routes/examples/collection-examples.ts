import type {
  CollectionDto,
  CollectionResults,
  CriteriaCollectionDto,
  CriteriaCollectionUpdate,
  NewCriteriaCollection,
} from '../../../shared/domain/collections/collection.ts'
import type { TenantSchemas } from '../../../shared/domain/collections/condition-entry.ts'
import type { PreviewReply, PreviewRequest } from '../../../shared/domain/collections/preview.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import {
  CREATED_AT,
  CRITERIA_COLLECTION_ID,
  IDENTITY_ID,
  MANAGER_ID,
  RELATIONSHIP_ID,
  UPDATED_AT,
} from './example-ids.ts'

/** Nurses and head nurses whose position has not ended. */
const CONDITION: WireGroup = {
  groupOperator: 'AND',
  conditions: [
    {
      id: 'relationshipTitle',
      field: 'relationshipTitle',
      operator: 'In',
      value: ['Nurse', 'Head Nurse'],
    },
    {
      groupOperator: 'OR',
      conditions: [
        { id: 'relationshipEndDate', field: 'relationshipEndDate', operator: 'IsNull' },
        {
          id: 'relationshipEndDate',
          field: 'relationshipEndDate',
          operator: 'GreaterThanOrEqual',
          value: 'Today()',
        },
      ],
    },
  ],
}

const NEW_COLLECTION: NewCriteriaCollection = {
  objectType: 'Relationship',
  name: 'Nurses',
  description: 'Everyone who works as a nurse today',
  condition: CONDITION,
  metadata: { tags: ['health'], attributes: { owner: 'nursing' } },
}
const UPDATE: CriteriaCollectionUpdate = { objectType: 'Relationship', description: 'Nurses and head nurses' }

const RECORD: CollectionDto = {
  id: CRITERIA_COLLECTION_ID,
  objectType: 'Relationship',
  name: 'Nurses',
  description: 'Everyone who works as a nurse today',
  metadata: { tags: ['health'], attributes: { owner: 'nursing' } },
  createdBy: MANAGER_ID,
  createdAt: CREATED_AT,
  updatedAt: UPDATED_AT,
}
const CRITERIA_RECORD: CriteriaCollectionDto = { ...RECORD, condition: CONDITION }

const RESULTS: CollectionResults = {
  collectionId: CRITERIA_COLLECTION_ID,
  name: 'Nurses',
  description: 'Everyone who works as a nurse today',
  objectType: 'Relationship',
  memberIds: [RELATIONSHIP_ID],
  evaluatedAt: UPDATED_AT,
}

const PREVIEW: PreviewRequest = {
  currentId: CRITERIA_COLLECTION_ID,
  preview: { objectType: 'Relationship', condition: CONDITION },
}
const PREVIEWED = { objectId: RELATIONSHIP_ID, displayName: 'Kari Nordmann, Nurse' }
const PREVIEW_REPLY: PreviewReply = {
  preview: [PREVIEWED],
  added: [PREVIEWED],
  removed: [],
  counts: { preview: 1, added: 1, removed: 0 },
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
const SCHEMAS: TenantSchemas = {
  identitySchema: ATTRIBUTES,
  relationshipSchema: ATTRIBUTES,
  orgUnitSchema: ATTRIBUTES,
  userSchema: {},
  groupSchema: {},
}

/** Examples of collections of either kind and of criteria collections, by the name of the schema. */
export const COLLECTION_EXAMPLES = {
  Guid: CRITERIA_COLLECTION_ID,
  Collection: RECORD,
  CollectionResults: RESULTS,
  FilterMembersRequest: { ids: [RELATIONSHIP_ID, IDENTITY_ID] },
  CriteriaCollection: CRITERIA_RECORD,
  NewCriteriaCollection: NEW_COLLECTION,
  CriteriaCollectionUpdate: UPDATE,
  CriteriaPreviewRequest: PREVIEW,
  CriteriaPreview: PREVIEW_REPLY,
  TenantSchemas: SCHEMAS,
}

/** What these operations answer is not what the example of the schema shows. */
export const COLLECTION_ANSWERS = {
  filterCollectionMembers: [RELATIONSHIP_ID],
  filterCriteriaMembers: [RELATIONSHIP_ID],
}
