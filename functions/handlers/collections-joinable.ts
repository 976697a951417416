import { requestDependencies } from '../host/collections.ts'
import { httpGroup } from '../host/http-group.ts'
import { joinableRoutes } from '../routes/collections-joinable.ts'

export const handle = httpGroup(joinableRoutes(requestDependencies))
