import { app } from '@azure/functions'
import { onMessage } from './app/triggers.ts'

app.serviceBusQueue('evaluate-collections', onMessage('evaluations'))
