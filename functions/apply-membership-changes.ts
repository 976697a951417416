import { app } from '@azure/functions'
import { onMessage } from './app/triggers.ts'

app.serviceBusQueue('apply-membership-changes', onMessage('membership-changes'))
