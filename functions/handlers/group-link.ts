import { linkDependencies } from '../host/group-link.ts'
import { httpGroup } from '../host/http-group.ts'
import { groupLinkRoutes } from '../routes/group-link.ts'
import { PREFIXES } from '../routes/prefixes.ts'

export const handle = httpGroup({ prefix: PREFIXES.groupLink, routes: groupLinkRoutes(linkDependencies) })
