import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'collections-criteria',
  httpBelow(PREFIXES.criteria, () => import('./handlers/collections-criteria.ts')),
)
