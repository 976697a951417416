import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'connectors',
  httpBelow(PREFIXES.connectors, () => import('./handlers/connectors.ts')),
)
app.http(
  'connectors-reading',
  httpBelow(PREFIXES.connectorsReading, () => import('./handlers/connectors-reading.ts')),
)
