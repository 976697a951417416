import { httpDocument } from '../host/http-group.ts'
import { serviceDocument } from '../routes/service-document.ts'

export const handle = httpDocument(serviceDocument())
