import { connectorDependencies } from '../app/connectors.ts'
import { httpGroup } from '../app/http-group.ts'
import { connectorReadingRoutes } from '../routes/connectors.ts'

export const handle = httpGroup(connectorReadingRoutes(connectorDependencies))
