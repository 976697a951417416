import { buildService, type Overrides, type Service } from '../../../functions/app/service.ts'
import type { DispatchDependencies } from '../../../shared/http/dispatch.ts'
import type { HttpResponse } from '../../../shared/http/envelope.ts'
import type { RouteGroup } from '../../../shared/http/route.ts'
import type { Log } from '../../../shared/kernel/log.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { APP_SETTINGS } from '../architecture/settings-to-load.ts'
import { conformingDispatcher, textOf } from '../http/conformity.ts'

const SETTINGS = { ...readSettings(APP_SETTINGS), evaluationDelayMs: 0, requestsPerCallerPerMinute: 0 }

/** Keeps errors and discards all other events. */
export const faultLog = (faults: unknown[] = []): Log => ({
  info: () => undefined,
  warn: () => undefined,
  error: (_event, error) => void faults.push(error),
})

/** Builds the service on a test's database. Unless overridden, it logs nothing and drops its messages. */
export function builtService(
  container: NonNullable<Overrides['container']>,
  overrides: Overrides = {},
  settings: Partial<Settings> = {},
): Service {
  const quiet = { log: faultLog(), messageQueue: { enqueue: async () => undefined } }
  return buildService({ ...SETTINGS, ...settings }, { ...quiet, container, ...overrides })
}

/** Sends a request to the group that serves its path. A body is sent as JSON unless it consists of bytes. */
export type Request = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
) => Promise<Answer>

type Answer = Pick<HttpResponse, 'status' | 'headers'> & { readonly body?: string }

/** Serves these groups without a host. By default, every response must conform to the API description. */
export function requestsTo(
  groups: readonly RouteGroup[],
  deps: DispatchDependencies,
  dispatcherOf = conformingDispatcher,
): Request {
  const served = groups.map((group) => ({ prefix: `/${group.prefix}`, dispatch: dispatcherOf(group, deps) }))
  return async (method, path, headers, body) => {
    const found = served.find(
      ({ prefix }) => path === prefix || (path.startsWith(prefix) && /^[/?]/.test(path.slice(prefix.length))),
    )
    if (found === undefined) throw new Error(`No group answers ${path}`)
    const sent: Readonly<Record<string, string>> = { 'content-type': 'application/json', ...headers }
    const answer = await found.dispatch({
      method,
      url: `http://localhost${path}`,
      header: (name) => sent[name] ?? null,
      bytes: async () => (body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body) ?? '')),
    })
    const { status, headers: answered } = answer
    const text = textOf(answer)
    return { status, headers: answered, ...(text === undefined ? {} : { body: text }) }
  }
}
