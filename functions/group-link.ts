import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'group-link',
  httpBelow(PREFIXES.groupLink, () => import('./handlers/group-link.ts')),
)
