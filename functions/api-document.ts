import { app } from '@azure/functions'
import { publicFiles } from './app/triggers.ts'
import { DOCUMENT_PATH } from './routes/prefixes.ts'

app.http(
  'api-document',
  publicFiles(DOCUMENT_PATH.slice(1), async () => {
    const { CooperativeScheduler } = await import('../shared/kernel/cooperative-scheduler.ts')
    const { documentFile, serviceDocumentTask } = await import('./routes/service-document.ts')
    const document = await new CooperativeScheduler(() => performance.now()).run(serviceDocumentTask())
    return () => documentFile(document)
  }),
)
