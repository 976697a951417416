import { app } from '@azure/functions'
import { connectorDependencies } from './host/connectors.ts'
import { httpGroup } from './host/http-group.ts'
import { connectorsGroup, connectorsReadingGroup } from './routes/connectors.ts'

app.http('connectors', httpGroup(connectorsGroup(connectorDependencies)))
app.http('connectors-reading', httpGroup(connectorsReadingGroup(connectorDependencies)))
