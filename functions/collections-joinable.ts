import { app } from '@azure/functions'
import { requestDependencies } from './host/collections.ts'
import { httpGroup } from './host/http-group.ts'
import { joinableRoutes } from './routes/collections-joinable.ts'

app.http('collections-joinable', httpGroup(joinableRoutes(requestDependencies)))
