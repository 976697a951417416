import { app } from '@azure/functions'
import { onMessage } from './app/triggers.ts'

app.serviceBusQueue('deliver-events', onMessage('event-deliveries'))
