import { app } from '@azure/functions'
import { httpAt } from './host/triggers.ts'

app.http(
  'health',
  httpAt('health', () => import('./handlers/health.ts')),
)
