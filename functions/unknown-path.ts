import { app } from '@azure/functions'
import { routesBelow } from './app/triggers.ts'

// The host tries functions in the order of their names: this one must be the last.
app.http('zz-unknown-path', routesBelow(''))
