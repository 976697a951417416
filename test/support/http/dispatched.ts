import type { IdempotencyDependencies } from '../../../shared/domain/idempotency/run-once.ts'
import { type DispatchDependencies, dispatcher } from '../../../shared/http/dispatch.ts'
import type { Route } from '../../../shared/http/route.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'

export type Sent = {
  readonly method?: string
  readonly path?: string
  /** The name of the caller. */
  readonly as?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Sends requests to routes below `/things/beta`, without a host. The name of a caller is its token. */
export function dispatched(
  routes: readonly Route[],
  callers: Readonly<Record<string, Caller>>,
  deps: Partial<DispatchDependencies> = {},
) {
  const dispatch = dispatcher(
    { prefix: 'things/beta', routes },
    {
      authenticate: async (authorization) => {
        const known = callers[authorization ?? '']
        if (known === undefined) throw new Refusal('TokenMissing')
        return known
      },
      admit: () => undefined,
      findIdentity: async () => undefined,
      // None of these requests has an Idempotency-Key.
      idempotency: { newId: () => 'made-id' } as IdempotencyDependencies,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      newId: () => 'made-id',
      nowMs: () => 0,
      ...deps,
    },
  )
  return async ({ method = 'GET', path = '', as = Object.keys(callers)[0] ?? '', headers = {}, body }: Sent) => {
    const all: Record<string, string> = { authorization: as, ...headers }
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array())
    const answer = await dispatch({
      method,
      url: `http://localhost/things/beta${path}`,
      header: (name) => all[name] ?? null,
      bytes: async () => bytes,
    })
    return { ...answer, json: JSON.parse(String(answer.body ?? 'null')) }
  }
}
