import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'collections-joinable',
  httpBelow(PREFIXES.joinable, () => import('./handlers/collections-joinable.ts')),
)
