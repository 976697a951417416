import { app } from '@azure/functions'
import { publicFiles } from './app/triggers.ts'
import { CONDITIONS_PAGE_PATH, DOCUMENT_PATH, REFERENCE_PAGE_PATH, TOKEN_PAGE_PATH } from './routes/prefixes.ts'

app.http(
  'docs',
  publicFiles(`${REFERENCE_PAGE_PATH.slice(1)}/{*rest}`, async ({ consoleClientId }) => {
    const { referencePage } = await import('../shared/openapi/reference-page.ts')
    const { SERVICE_TITLE } = await import('./routes/service-document.ts')
    const { conditionLanguagePage } = await import('../shared/openapi/condition-language-page.ts')
    const { CONDITION_EXAMPLES } = await import('./routes/examples/condition-examples.ts')
    // The console signs people in.
    const signInPath = consoleClientId === undefined ? undefined : TOKEN_PAGE_PATH
    const page = { title: SERVICE_TITLE, path: REFERENCE_PAGE_PATH, documentPath: DOCUMENT_PATH, signInPath }
    const conditions = { path: CONDITIONS_PAGE_PATH, examples: CONDITION_EXAMPLES }
    return () => {
      const [reference, language] = [referencePage(page), conditionLanguagePage(conditions)]
      return { get: (path) => reference.get(path) ?? language.get(path) }
    }
  }),
)
