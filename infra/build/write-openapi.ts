import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceDocument } from '../../functions/routes/service-document.ts'

writeFileSync(join(import.meta.dirname, '../openapi.json'), `${JSON.stringify(serviceDocument(), null, 2)}\n`)
