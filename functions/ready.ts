import { app } from '@azure/functions'
import { httpAt } from './host/triggers.ts'

app.http(
  'ready',
  httpAt('ready', () => import('./handlers/ready.ts')),
)
