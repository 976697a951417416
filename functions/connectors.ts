import { app } from '@azure/functions'
import { routesBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http('connectors', routesBelow(PREFIXES.connectors))
app.http('connectors-reading', routesBelow(PREFIXES.connectorsReading))
