import { linkDependencies } from '../host/group-link.ts'
import { httpGroup } from '../host/http-group.ts'
import { groupLinkRoutes } from '../routes/group-link.ts'

export const handle = httpGroup(groupLinkRoutes(linkDependencies))
