import { collectionDependencies } from '../app/collections.ts'
import { httpGroup } from '../app/http-group.ts'
import { collectionRoutes } from '../routes/collections.ts'

export const handle = httpGroup(collectionRoutes(collectionDependencies))
