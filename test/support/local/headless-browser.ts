import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Chromium without windows: to open a page takes a quarter of the processor time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'
/** Paths of Chromium in Linux distributions. */
const PLACES = [HEADLESS_SHELL, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Far longer than any page needs. */
const KILLED_AFTER_MS = 30_000

/** The Chromium of this machine. Undefined if there is none. */
export function findChromium(): string | undefined {
  return PLACES.find((place) => existsSync(place))
}

export const isHeadlessShell = (chromium: string): boolean => chromium === HEADLESS_SHELL

export type SeenPage = {
  /** The document after all scripts have run. */
  readonly dom: string
  /** Console output of the page and of the browser. */
  readonly console: readonly string[]
  /** All URLs that the page requested, without requests of the browser itself. */
  readonly requested: readonly string[]
}

/** Opens a page in a new profile without access to other hosts. */
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

/** Requests of a page have its origin as initiator. Requests of the browser have none. */
function requestedIn(text: string, origin: string): string[] {
  const { constants, events } = JSON.parse(text) as NetLog
  const started = constants.logEventTypes.URL_REQUEST_START_JOB
  const urls = events.flatMap(({ type, params }) =>
    type === started && params?.url !== undefined && params.initiator === origin ? [params.url] : [],
  )
  return [...new Set(urls)]
}
