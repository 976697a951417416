import { app } from '@azure/functions'
import { coreObjectDependencies } from './host/core-objects.ts'
import { httpGroup } from './host/http-group.ts'
import { coreObjectsGroup } from './routes/core-objects.ts'

app.http('core-objects', httpGroup(coreObjectsGroup(coreObjectDependencies)))
