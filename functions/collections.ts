import { app } from '@azure/functions'
import { collectionDependencies } from './host/collections.ts'
import { httpGroup } from './host/http-group.ts'
import { collectionRoutes } from './routes/collections.ts'

app.http('collections', httpGroup(collectionRoutes(collectionDependencies)))
