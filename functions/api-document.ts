import { app } from '@azure/functions'
import { httpAt } from './host/triggers.ts'

app.http(
  'api-document',
  httpAt('openapi.json', () => import('./handlers/api-document.ts')),
)
