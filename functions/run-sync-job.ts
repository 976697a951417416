import { app } from '@azure/functions'
import { onMessage } from './host/triggers.ts'

app.serviceBusQueue(
  'run-sync-job',
  onMessage('sync-jobs', () => import('./handlers/run-sync-job.ts')),
)
