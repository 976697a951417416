import { app } from '@azure/functions'
import { httpBelow } from './host/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'collections',
  httpBelow(PREFIXES.collections, () => import('./handlers/collections.ts')),
)
