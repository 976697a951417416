import { requestDependencies } from '../app/collections.ts'
import { httpGroup } from '../app/http-group.ts'
import { joinableRoutes } from '../routes/collections-joinable.ts'

export const handle = httpGroup(joinableRoutes(requestDependencies))
