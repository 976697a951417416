import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where distributions put it. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Long after any page of ours is done. */
const KILLED_AFTER_MS = 30_000

/** The Chromium of this machine; undefined when it has none. */
export function findChromium(): string | undefined {
  return PLACES.find((place) => existsSync(place))
}

export type SeenPage = {
  /** The document as it was once all scripts had run. */
  readonly dom: string
  /** What the page, or the browser about it, wrote to the console. */
  readonly console: readonly string[]
  /** Every address that the page itself asked for on the network; the browser has errands of its own. */
  readonly requested: readonly string[]
}

/** Opens a page in a new, empty profile; no host but this machine can be reached. */
export async function openPage(chromium: string, url: string): Promise<SeenPage> {
  const folder = mkdtempSync(join(tmpdir(), 'collections-browser-'))
  const netLog = join(folder, 'net-log.json')
  try {
    const { stdout, stderr } = await run(
      chromium,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-default-apps',
        '--disable-sync',
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
        `--user-data-dir=${join(folder, 'profile')}`,
        `--log-net-log=${netLog}`,
        '--enable-logging=stderr',
        '--virtual-time-budget=5000',
        '--dump-dom',
        url,
      ],
      { timeout: KILLED_AFTER_MS, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
    )
    return {
      dom: stdout,
      console: stderr.split('\n').filter((line) => /:CONSOLE[:(]/.test(line)),
      requested: requestedIn(readFileSync(netLog, 'utf8'), new URL(url).origin),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

type NetLog = {
  readonly constants: { readonly logEventTypes: Readonly<Record<string, number>> }
  readonly events: readonly {
    readonly type: number
    readonly params?: { readonly url?: string; readonly initiator?: string }
  }[]
}

/** What a page causes has the page's origin as its initiator; what the browser does of itself has none. */
function requestedIn(text: string, origin: string): string[] {
  const { constants, events } = JSON.parse(text) as NetLog
  const started = constants.logEventTypes.URL_REQUEST_START_JOB
  const urls = events.flatMap(({ type, params }) =>
    type === started && params?.url !== undefined && params.initiator === origin ? [params.url] : [],
  )
  return [...new Set(urls)]
}
