import type { GroupLinkDto, NewGroupLink } from '../../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import type { LinkPreview, LinkPreviewInput } from '../../../shared/domain/sync/preview-sync.ts'
import {
  ACCOUNT_ID,
  CREATED_AT,
  CRITERIA_COLLECTION_ID,
  GROUP_ID,
  JOB_ID,
  LINK_ID,
  TENANT_ID,
  UPDATED_AT,
} from './example-ids.ts'

const NEW_LINK: NewGroupLink = { collectionId: CRITERIA_COLLECTION_ID, directoryGroupId: GROUP_ID }
const LINK: GroupLinkDto = {
  id: LINK_ID,
  ...NEW_LINK,
  directoryTenantId: TENANT_ID,
  createdAt: CREATED_AT,
  state: 'Enabled',
  lastSyncedAt: UPDATED_AT,
  lastSyncOutcome: 'Succeeded',
  directoryGroupDisplayName: 'All nurses',
}

const PREVIEW_INPUT: LinkPreviewInput = { collectionId: CRITERIA_COLLECTION_ID, groupId: GROUP_ID }
const PREVIEW: LinkPreview = { membersToAdd: [ACCOUNT_ID], membersToRemove: [], membersWithoutEntraAccount: 0 }

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
  createdAt: CREATED_AT,
  startedAt: CREATED_AT,
  completedAt: UPDATED_AT,
  error: null,
}

/** Examples of group links and sync jobs, by the name of the schema. */
export const LINK_EXAMPLES = {
  GroupLink: LINK,
  NewGroupLink: NEW_LINK,
  GroupLinkChange: { state: 'Disabled' },
  GroupLinkPreview: PREVIEW,
  GroupLinkPreviewRequest: PREVIEW_INPUT,
  SyncJob: JOB,
  QueuedSync: { jobId: JOB_ID, jobIds: [JOB_ID] },
}

/** What these operations answer is not what the example of the schema shows. */
export const LINK_ANSWERS = {
  createGroupLink: LINK_ID,
  setGroupLinkState: { ...LINK, state: 'Disabled' },
}
