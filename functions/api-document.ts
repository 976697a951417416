import { app } from '@azure/functions'
import { httpDocument } from './host/http-group.ts'
import { serviceDocument } from './routes/service-document.ts'

app.http('api-document', httpDocument('openapi.json', serviceDocument()))
