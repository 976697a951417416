import { connectorDependencies } from '../host/connectors.ts'
import { httpGroup } from '../host/http-group.ts'
import { connectorsGroup } from '../routes/connectors.ts'

export const handle = httpGroup(connectorsGroup(connectorDependencies))
