import { referencePage } from '../../shared/openapi/reference-page.ts'
import { httpFiles } from '../app/http-group.ts'
import { DOCUMENT_PATH, REFERENCE_PAGE_PATH } from '../routes/prefixes.ts'
import { SERVICE_TITLE } from '../routes/service-document.ts'

const page = { title: SERVICE_TITLE, path: REFERENCE_PAGE_PATH, documentPath: DOCUMENT_PATH }

export const handle = httpFiles(() => referencePage(page))
