import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceDocument } from '../../functions/routes/service-document.ts'

// For generators that need a file. It is not committed: the route tables define the API.
writeFileSync(join(import.meta.dirname, '../openapi.json'), `${JSON.stringify(serviceDocument(), null, 2)}\n`)
