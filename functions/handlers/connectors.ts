import { connectorDependencies } from '../host/connectors.ts'
import { httpGroup } from '../host/http-group.ts'
import { connectorRoutes } from '../routes/connectors.ts'

export const handle = httpGroup(connectorRoutes(connectorDependencies))
