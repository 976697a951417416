import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PublicFile, PublicFiles } from '../http/public-files.ts'

/** The files of Swagger UI that the page loads. */
const LIBRARY = {
  'swagger-ui.css': ['text/css; charset=utf-8', import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  'swagger-ui-bundle.js': [
    'text/javascript; charset=utf-8',
    import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  ],
  'favicon-32x32.png': ['image/png', import.meta.resolve('swagger-ui-dist/favicon-32x32.png')],
} as const

/**
 * Allows this origin only. The style sheet has `data:` images. Inline scripts and scripts of other origins are blocked.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type ReferencePage = {
  readonly title: string
  /** The path of the page. Its scripts and styles have paths below it. */
  readonly path: string
  /** The path of the OpenAPI document that the page displays. */
  readonly documentPath: string
}

/** The reference page of the API with all the files that it loads, by path. */
export function referencePage({ title, path, documentPath }: ReferencePage): PublicFiles {
  const packageFile = fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const folder = `${path}/${version}`
  const initializerPath = `${path}/initializer.js`
  const library = Object.entries(LIBRARY).map(([name, [contentType, url]]): [string, PublicFile] => [
    `${folder}/${name}`,
    { contentType, isImmutable: true, read: () => readFileSync(fileURLToPath(url)) },
  ])
  return new Map([
    [
      path,
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
    <noscript>The OpenAPI document is at <a href="${documentPath}">${documentPath}</a>.</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${initializerPath}"></script>
  </body>
</html>
`
}

/** The online validator is disabled: it would send the address of the document to another site. */
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
