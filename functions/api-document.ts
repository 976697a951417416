import { app } from '@azure/functions'
import { DOCUMENT_PATH } from '../shared/http/public-paths.ts'
import { publicFiles } from './app/triggers.ts'

app.http(
  'api-document',
  publicFiles(DOCUMENT_PATH.slice(1), async () => (await import('./routes/service-document.ts')).documentFile),
)
