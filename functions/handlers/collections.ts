import { collectionDependencies } from '../host/collections.ts'
import { httpGroup } from '../host/http-group.ts'
import { collectionRoutes } from '../routes/collections.ts'

export const handle = httpGroup(collectionRoutes(collectionDependencies))
