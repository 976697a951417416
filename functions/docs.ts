import { app } from '@azure/functions'
import { REFERENCE_PAGE_PATH } from '../shared/http/public-paths.ts'
import { httpBelow } from './app/triggers.ts'

app.http(
  'docs',
  httpBelow(REFERENCE_PAGE_PATH.slice(1), () => import('./handlers/docs.ts')),
)
