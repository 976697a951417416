import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'core-objects',
  httpBelow(PREFIXES.coreObjects, () => import('./handlers/core-objects.ts')),
)
