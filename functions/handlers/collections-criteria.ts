import { collectionDependencies } from '../app/collections.ts'
import { httpGroup } from '../app/http-group.ts'
import { criteriaRoutes } from '../routes/collections-criteria.ts'

export const handle = httpGroup(criteriaRoutes(collectionDependencies))
