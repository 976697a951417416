import { app } from '@azure/functions'
import { DOCUMENT_PATH, REFERENCE_PAGE_PATH } from '../shared/http/public-paths.ts'
import { publicFiles } from './app/triggers.ts'

app.http(
  'docs',
  publicFiles(`${REFERENCE_PAGE_PATH.slice(1)}/{*rest}`, async () => {
    const { referencePage } = await import('../shared/openapi/reference-page.ts')
    const { SERVICE_TITLE } = await import('./routes/service-document.ts')
    return () => referencePage(SERVICE_TITLE, DOCUMENT_PATH)
  }),
)
