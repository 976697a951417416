import { httpFiles } from '../app/http-group.ts'
import { documentFile } from '../routes/service-document.ts'

export const handle = httpFiles(documentFile)
