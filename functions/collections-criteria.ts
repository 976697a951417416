import { app } from '@azure/functions'
import { collectionDependencies } from './host/collections.ts'
import { httpGroup } from './host/http-group.ts'
import { criteriaRoutes } from './routes/collections-criteria.ts'

app.http('collections-criteria', httpGroup(criteriaRoutes(collectionDependencies)))
