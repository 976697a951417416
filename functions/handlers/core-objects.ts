import { coreObjectDependencies } from '../host/core-objects.ts'
import { httpGroup } from '../host/http-group.ts'
import { coreObjectRoutes } from '../routes/core-objects.ts'

export const handle = httpGroup(coreObjectRoutes(coreObjectDependencies))
