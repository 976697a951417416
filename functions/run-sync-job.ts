import { app } from '@azure/functions'
import { runSyncJob } from '../shared/domain/links/run-sync-job.ts'
import { SyncJobMessage } from '../shared/messaging/messages.ts'
import { linkDependencies } from './host/group-link.ts'
import { queueFunction } from './host/queue-function.ts'

app.serviceBusQueue(
  'run-sync-job',
  queueFunction('sync-jobs', SyncJobMessage, (message) => runSyncJob(message, linkDependencies)),
)
