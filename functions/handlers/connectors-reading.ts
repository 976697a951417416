import { connectorDependencies } from '../app/connectors.ts'
import { httpGroup } from '../app/http-group.ts'
import { connectorReadRoutes } from '../routes/connectors.ts'

export const handle = httpGroup(connectorReadRoutes(connectorDependencies))
