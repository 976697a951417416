import { linkDependencies } from '../app/group-link.ts'
import { httpGroup } from '../app/http-group.ts'
import { groupLinkRoutes } from '../routes/group-link.ts'

export const handle = httpGroup(groupLinkRoutes(linkDependencies))
