import { connectorDependencies } from '../host/connectors.ts'
import { httpGroup } from '../host/http-group.ts'
import { connectorReadingRoutes } from '../routes/connectors.ts'

export const handle = httpGroup(connectorReadingRoutes(connectorDependencies))
