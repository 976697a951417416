import { app } from '@azure/functions'
import { probe } from './app/triggers.ts'

app.http(
  'ready',
  probe('ready', async ({ loadService }) => {
    const { readinessResponder } = await import('../shared/http/probes.ts')
    const { readiness, newId } = await loadService()
    return readinessResponder(readiness, newId)
  }),
)
