import { randomUUID } from 'node:crypto'
import { app } from '@azure/functions'
import { probe } from './app/triggers.ts'

app.http(
  'health',
  probe('health', async () => {
    const { livenessResponder } = await import('../shared/http/probes.ts')
    return livenessResponder(randomUUID)
  }),
)
