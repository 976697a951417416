import { app } from '@azure/functions'
import { onMessage } from './host/triggers.ts'

app.serviceBusQueue(
  'evaluate-collections',
  onMessage('evaluations', () => import('./handlers/evaluate-collections.ts')),
)
