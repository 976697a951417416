import { DOCUMENT_PATH } from '../../shared/http/public-paths.ts'
import { referencePage } from '../../shared/openapi/reference-page.ts'
import { httpFiles } from '../app/http-group.ts'
import { SERVICE_TITLE } from '../routes/service-document.ts'

export const handle = httpFiles(() => referencePage(SERVICE_TITLE, DOCUMENT_PATH))
