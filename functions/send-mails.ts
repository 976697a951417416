import { app } from '@azure/functions'
import { onMessage } from './app/triggers.ts'

app.serviceBusQueue('send-mails', onMessage('mails'))
