import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PublicFile, PublicFiles } from '../http/public-files.ts'
import { REFERENCE_PAGE_PATH } from '../http/public-paths.ts'

/** The files of the library that the page shows the document with. */
const LIBRARY = {
  'swagger-ui.css': ['text/css; charset=utf-8', import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  'swagger-ui-bundle.js': [
    'text/javascript; charset=utf-8',
    import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  ],
  'favicon-32x32.png': ['image/png', import.meta.resolve('swagger-ui-dist/favicon-32x32.png')],
} as const

/**
 * Nothing but what is served here. Images inside the style sheet are `data:`; no script stands in the page, and none may
 * be brought in from elsewhere.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The reference page of the API, which shows the document at `documentPath`, and all that it loads. */
export function referencePage(title: string, documentPath: string): PublicFiles {
  const packageFile = fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const folder = `${REFERENCE_PAGE_PATH}/${version}`
  const initializerPath = `${REFERENCE_PAGE_PATH}/initializer.js`
  const library = Object.entries(LIBRARY).map(([name, [contentType, url]]): [string, PublicFile] => [
    `${folder}/${name}`,
    { contentType, isImmutable: true, read: () => readFileSync(fileURLToPath(url)) },
  ])
  return new Map([
    [
      REFERENCE_PAGE_PATH,
      {
        ...text('text/html', page(title, documentPath, folder, initializerPath)),
        headers: { 'content-security-policy': CONTENT_SECURITY_POLICY, 'referrer-policy': 'no-referrer' },
      },
    ],
    [initializerPath, text('text/javascript', initializer(documentPath))],
    ...library,
  ])
}

function text(contentType: string, content: string): PublicFile {
  return { contentType: `${contentType}; charset=utf-8`, read: () => Buffer.from(content) }
}

function page(title: string, documentPath: string, folder: string, initializerPath: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" type="image/png" href="${folder}/favicon-32x32.png">
    <link rel="stylesheet" href="${folder}/swagger-ui.css">
  </head>
  <body>
    <main id="reference"></main>
    <noscript>The description of the API is at <a href="${documentPath}">${documentPath}</a>.</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${initializerPath}"></script>
  </body>
</html>
`
}

/** The badge of the online validator is off: it would send the document's address elsewhere. */
function initializer(documentPath: string): string {
  return `window.ui = SwaggerUIBundle(${JSON.stringify({
    url: documentPath,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayOperationId: true,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
    queryConfigEnabled: false,
    tryItOutEnabled: false,
    validatorUrl: null,
  })})
`
}
