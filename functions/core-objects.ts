import { app } from '@azure/functions'
import { routesBelow } from './app/triggers.ts'
import { PREFIXES } from './routes/prefixes.ts'

app.http('core-objects', routesBelow(PREFIXES.coreObjects))
