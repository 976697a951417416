import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { REFERENCE_PAGE_PATH } from './routes/prefixes.ts'

app.http(
  'docs',
  httpBelow(REFERENCE_PAGE_PATH.slice(1), () => import('./handlers/docs.ts')),
)
