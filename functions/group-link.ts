import { app } from '@azure/functions'
import { linkDependencies } from './host/group-link.ts'
import { httpGroup } from './host/http-group.ts'
import { GROUP_LINK_PREFIX, groupLinkRoutes } from './routes/group-link.ts'

app.http('group-link', httpGroup({ prefix: GROUP_LINK_PREFIX, routes: groupLinkRoutes(linkDependencies) }))
