import { collectionDependencies } from '../host/collections.ts'
import { httpGroup } from '../host/http-group.ts'
import { criteriaRoutes } from '../routes/collections-criteria.ts'

export const handle = httpGroup(criteriaRoutes(collectionDependencies))
