import { coreObjectDependencies } from '../app/core-objects.ts'
import { httpGroup } from '../app/http-group.ts'
import { coreObjectRoutes } from '../routes/core-objects.ts'

export const handle = httpGroup(coreObjectRoutes(coreObjectDependencies))
