import { app } from '@azure/functions'
import { httpAt } from './app/triggers.ts'
import { DOCUMENT_PATH } from './routes/prefixes.ts'

app.http(
  'api-document',
  httpAt(DOCUMENT_PATH.slice(1), () => import('./handlers/api-document.ts')),
)
