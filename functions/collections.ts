import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'collections',
  httpBelow(PREFIXES.collections, () => import('./handlers/collections.ts')),
)
