import { app } from '@azure/functions'
import { httpAt } from './app/triggers.ts'

app.http(
  'health',
  httpAt('health', () => import('./handlers/health.ts')),
)
