import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { SyncJobMessage } from '../../shared/messaging/queues.ts'
import { linkDependencies } from '../app/group-link.ts'
import { messageHandler } from '../app/message-handler.ts'

export const handle = messageHandler('sync-jobs', SyncJobMessage, (message) => runSyncJob(message, linkDependencies))
