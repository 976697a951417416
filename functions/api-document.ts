import { app } from '@azure/functions'
import { DOCUMENT_PATH } from '../shared/http/public-paths.ts'
import { httpAt } from './app/triggers.ts'

app.http(
  'api-document',
  httpAt(DOCUMENT_PATH.slice(1), () => import('./handlers/api-document.ts')),
)
