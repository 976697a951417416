import { connectorDependencies } from '../app/connectors.ts'
import { httpGroup } from '../app/http-group.ts'
import { connectorRoutes } from '../routes/connectors.ts'

export const handle = httpGroup(connectorRoutes(connectorDependencies))
