import { app } from '@azure/functions'
import { probe } from './app/triggers.ts'

app.http(
  'ready',
  probe('ready', async ({ newId }, loadService) => {
    const { readinessResponder } = await import('../shared/http/probes.ts')
    const { readiness } = await loadService()
    return readinessResponder(readiness, newId)
  }),
)
