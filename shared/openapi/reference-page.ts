import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type PublicFile, type PublicFiles, textFile } from '../http/public-files.ts'
import { BEARER_SCHEME } from './bearer-scheme.ts'

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
  /**
   * A page of this origin that signs a person in and sends an access token to the `BroadcastChannel` that its parameter
   * `channel` names. Without it, the page offers no sign-in.
   */
  readonly signInPath?: string | undefined
}

/** The reference page of the API with all the files that it loads, by path. */
export function referencePage({ title, path, documentPath, signInPath }: ReferencePage): PublicFiles {
  const packageFile = fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const folder = `${path}/${version}`
  const scripts = [
    [`${path}/initializer.js`, initializer(documentPath)],
    ...(signInPath === undefined ? [] : [[`${path}/sign-in.js`, signIn(signInPath)]]),
  ] as const
  const library = Object.entries(LIBRARY).map(([name, [contentType, url]]): [string, PublicFile] => [
    `${folder}/${name}`,
    { contentType, isImmutable: true, read: () => readFileSync(fileURLToPath(url)) },
  ])
  return new Map([
    [
      path,
      {
        ...textFile('text/html', () =>
          page({
            title,
            documentPath,
            folder,
            scripts: scripts.map(([url]) => url),
            hasSignIn: signInPath !== undefined,
          }),
        ),
        headers: { 'content-security-policy': CONTENT_SECURITY_POLICY, 'referrer-policy': 'no-referrer' },
      },
    ],
    ...scripts.map(([url, content]): [string, PublicFile] => [url, textFile('text/javascript', () => content)]),
    ...library,
  ])
}

type PageParts = {
  readonly title: string
  readonly documentPath: string
  /** Where the library is. */
  readonly folder: string
  readonly scripts: readonly string[]
  readonly hasSignIn: boolean
}

function page({ title, documentPath, folder, scripts, hasSignIn }: PageParts): string {
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
${hasSignIn ? SIGN_IN_BAR : ''}    <main id="reference"></main>
    <noscript>The OpenAPI document is at <a href="${documentPath}">${documentPath}</a>.</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    ${scripts.map((url) => `<script src="${url}"></script>`).join('\n    ')}
  </body>
</html>
`
}

/** With classes of the library, which has the only style sheet. */
const SIGN_IN_BAR = `    <div class="swagger-ui"><div class="wrapper auth-wrapper">
      <button type="button" class="btn authorize" id="sign-in"><span>Sign in</span></button>
      <p class="renderedMarkdown" id="signed-in" role="status"></p>
    </div></div>
`

/** Gets a token from a window of this origin. Only that window knows the name of the channel. */
function signIn(signInPath: string): string {
  return `document.getElementById('sign-in').addEventListener('click', () => {
  const name = crypto.randomUUID()
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data: { token, username } }) => {
    channel.close()
    window.ui.preauthorizeApiKey(${JSON.stringify(BEARER_SCHEME)}, token)
    document.getElementById('signed-in').textContent = 'Signed in as ' + username + '.'
  }
  window.open(${JSON.stringify(`${signInPath}?channel=`)} + name, '', 'popup,width=520,height=680')
})
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
