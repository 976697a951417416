import { app } from '@azure/functions'
import { REFERENCE_PAGE_PATH, referencePage } from '../shared/http/reference-page.ts'
import { httpFiles } from './host/http-group.ts'
import { DOCUMENT_PATH, SERVICE_TITLE } from './routes/service-document.ts'

app.http(
  'docs',
  httpFiles(`${REFERENCE_PAGE_PATH.slice(1)}/{*rest}`, () => referencePage(SERVICE_TITLE, DOCUMENT_PATH)),
)
