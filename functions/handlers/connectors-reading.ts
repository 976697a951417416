import { connectorDependencies } from '../host/connectors.ts'
import { httpGroup } from '../host/http-group.ts'
import { connectorsReadingGroup } from '../routes/connectors.ts'

export const handle = httpGroup(connectorsReadingGroup(connectorDependencies))
