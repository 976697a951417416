import { app } from '@azure/functions'
import { httpBelow } from './app/triggers.ts'

// The host tries functions in the order of their names: this one has to come last.
app.http(
  'zz-unknown-path',
  httpBelow('', () => import('./handlers/unknown-path.ts')),
)
