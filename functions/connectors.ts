import { app } from '@azure/functions'
import { routesBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http(
  'connectors',
  routesBelow(PREFIXES.connectors, async () => {
    const { connectorRoutes } = await import('./routes/connectors.ts')
    return ({ connectors }) => connectorRoutes(connectors)
  }),
)
app.http(
  'connectors-reading',
  routesBelow(PREFIXES.connectorsReading, async () => {
    const { connectorReadRoutes } = await import('./routes/connectors.ts')
    return ({ connectors }) => connectorReadRoutes(connectors)
  }),
)
