import { runSyncJob } from '../../shared/domain/links/run-sync-job.ts'
import { SyncJobMessage } from '../../shared/messaging/messages.ts'
import { linkDependencies } from '../host/group-link.ts'
import { messageHandler } from '../host/message-handler.ts'

export const handle = messageHandler('sync-jobs', SyncJobMessage, (message) => runSyncJob(message, linkDependencies))
