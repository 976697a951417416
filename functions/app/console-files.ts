import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PublicFile, type PublicFiles, textFile } from '../../shared/http/public-files.ts'
import type { Settings } from '../../shared/settings/settings.ts'

export const CONSOLE_PATH = '/console'

/** Where the console is built for functions that run from their sources. */
export const SOURCE_CONSOLE_FOLDER = join(import.meta.dirname, '../../.local/console')

/** The built console: beside the chunks of a bundled app, or in the project's folder of local state. */
const FOLDERS = [join(import.meta.dirname, '../console'), SOURCE_CONSOLE_FOLDER]

/** The build's list of entry files. Their names contain a hash of the content. */
export const ASSET_LIST = 'assets.json'

/** @property script and style: file names of the entry files. */
export type AssetList = { readonly script: string; readonly style: string; readonly icon: string }

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/**
 * The files of the console. Every path below `/console` that has no file returns the page, which shows the view of that
 * path. Empty, so that each path is refused, where the console is not built or has no client id.
 * @param folders candidates for the folder of the build.
 */
export function consoleFiles(settings: Settings, folders: readonly string[] = FOLDERS): PublicFiles {
  const { consoleClientId, consoleAuthorityUrl, serviceResourceUri, apiScope } = settings
  const folder = folders.find((candidate) => existsSync(join(candidate, ASSET_LIST)))
  if (folder === undefined || consoleClientId === undefined) return new Map()
  const assets = JSON.parse(readFileSync(join(folder, ASSET_LIST), 'utf8')) as AssetList
  const signIn: SignInSettings = {
    authority: consoleAuthorityUrl,
    client: consoleClientId,
    scope: `${serviceResourceUri}/${apiScope}`,
  }
  const page: PublicFile = {
    ...textFile('text/html', () => pageOf(assets, signIn)),
    headers: { 'content-security-policy': securityPolicy(consoleAuthorityUrl), 'referrer-policy': 'no-referrer' },
  }
  const files = new Map(readdirSync(folder).flatMap((name) => assetAt(folder, name)))
  return { get: (path) => files.get(path) ?? (isView(path) ? page : undefined) }
}

function assetAt(folder: string, name: string): [string, PublicFile][] {
  const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)]
  if (contentType === undefined) return []
  const read = () => readFileSync(join(folder, name))
  return [[`${CONSOLE_PATH}/assets/${name}`, { contentType, isImmutable: true, read }]]
}

/** A missing asset is not a view. */
function isView(path: string): boolean {
  return (path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`)) && !path.startsWith(`${CONSOLE_PATH}/assets/`)
}

/** Allows scripts, styles and calls of this origin, and calls of the authority. */
function securityPolicy(authorityUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${new URL(authorityUrl).origin}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

type SignInSettings = { readonly authority: string; readonly client: string; readonly scope: string }

function pageOf({ script, style, icon }: AssetList, signIn: SignInSettings): string {
  const settings = Object.entries(signIn).map(
    ([name, value]) => `<meta name="sign-in-${name}" content="${text(value)}">`,
  )
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${settings.join('\n    ')}
    <title>Collections</title>
    <link rel="icon" href="${CONSOLE_PATH}/assets/${icon}">
    <link rel="stylesheet" href="${CONSOLE_PATH}/assets/${style}">
    <script type="module" src="${CONSOLE_PATH}/assets/${script}"></script>
  </head>
  <body>
    <div id="console"></div>
    <noscript>The console needs JavaScript. The API description is at <a href="/docs">/docs</a>.</noscript>
  </body>
</html>
`
}

function text(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
