import { app } from '@azure/functions'
import { httpFiles } from './host/http-group.ts'
import { DOCUMENT_PATH, documentFile } from './routes/service-document.ts'

app.http('api-document', httpFiles(DOCUMENT_PATH.slice(1), documentFile))
