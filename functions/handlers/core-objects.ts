import { coreObjectDependencies } from '../host/core-objects.ts'
import { httpGroup } from '../host/http-group.ts'
import { coreObjectsGroup } from '../routes/core-objects.ts'

export const handle = httpGroup(coreObjectsGroup(coreObjectDependencies))
