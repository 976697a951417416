import { app } from '@azure/functions'
import { publicFiles } from './app/triggers.ts'
import { DOCUMENT_PATH, REFERENCE_PAGE_PATH } from './routes/prefixes.ts'

app.http(
  'docs',
  publicFiles(`${REFERENCE_PAGE_PATH.slice(1)}/{*rest}`, async () => {
    const { referencePage } = await import('../shared/openapi/reference-page.ts')
    const { SERVICE_TITLE } = await import('./routes/service-document.ts')
    const page = { title: SERVICE_TITLE, path: REFERENCE_PAGE_PATH, documentPath: DOCUMENT_PATH }
    return () => referencePage(page)
  }),
)
