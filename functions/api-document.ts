import { app } from '@azure/functions'
import { publicFiles } from './app/triggers.ts'
import { DOCUMENT_PATH } from './routes/prefixes.ts'

app.http(
  'api-document',
  publicFiles(DOCUMENT_PATH.slice(1), async () => (await import('./routes/service-document.ts')).documentFile),
)
