import { app } from '@azure/functions'
import { publicFiles } from './app/triggers.ts'

app.http(
  'console',
  publicFiles('console/{*rest}', async (settings) => {
    const { consoleFiles } = await import('./app/console-files.ts')
    return () => consoleFiles(settings)
  }),
)
