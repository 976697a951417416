import { app } from '@azure/functions'
import { onMessage } from './app/triggers.ts'

app.serviceBusQueue('run-sync-job', onMessage('sync-jobs'))
