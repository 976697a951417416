import { app } from '@azure/functions'
import { httpAt } from './app/triggers.ts'

app.http(
  'ready',
  httpAt('ready', () => import('./handlers/ready.ts')),
)
