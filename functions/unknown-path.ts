import { app } from '@azure/functions'
import { httpGroup } from './host/http-group.ts'

// The host tries functions in the order of their names: this one has to come last.
app.http('zz-unknown-path', httpGroup({ prefix: '', routes: [] }))
