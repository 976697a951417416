import { type PluginConfig, PluginOn } from '@azure/cosmos'

/** What an instance has seen of the database: session tokens by container id. Messages carry it to other instances. */
export type SessionTokens = Readonly<Record<string, string>>

/** https://learn.microsoft.com/azure/cosmos-db/consistency-levels */
const TOKEN_HEADER = 'x-ms-session-token'
const READ_SESSION_NOT_AVAILABLE = 1002

/** `version#LSN`, of an account with several regions with their numbers after it. */
type RangeToken = { readonly text: string; readonly version: number; readonly lsn: number }

/**
 * The session of a client: for each container and partition key range the newest state that it has seen. Each request
 * carries it, so that no read is older. The SDK keeps the same for itself and shares it with none; this one can go on
 * from what another instance has seen.
 */
export class DatabaseSession {
  readonly #containers = new Map<string, Map<string, RangeToken>>()

  tokens(): SessionTokens {
    return Object.fromEntries([...this.#containers.keys()].map((container) => [container, this.#tokenOf(container)]))
  }

  /** From now on no read is older than what these tokens stand for. What is no token is left out. */
  advance(tokens: SessionTokens): void {
    for (const [container, token] of Object.entries(tokens)) this.#see(container, token)
  }

  /** For the client whose session this is. */
  plugin(): PluginConfig {
    return {
      on: PluginOn.request,
      plugin: async (context, _diagnostics, next) => {
        const [, container] = /^\/?dbs\/[^/]+\/colls\/([^/]+)\/docs/.exec(context.path ?? '') ?? []
        if (container === undefined) return next(context)
        const token = this.#tokenOf(container)
        if (token !== '' && context.headers !== undefined) context.headers[TOKEN_HEADER] = token
        try {
          const response = await next(context)
          this.#see(container, response.headers[TOKEN_HEADER])
          return response
        } catch (error) {
          const { substatus, headers } = error as { substatus?: number; headers?: Record<string, unknown> }
          // No replica in reach has what was seen, as after the loss of a region: the SDK forgets it as well, and tries
          // again without.
          if (substatus === READ_SESSION_NOT_AVAILABLE) this.#containers.delete(container)
          else this.#see(container, headers?.[TOKEN_HEADER])
          throw error
        }
      },
    }
  }

  #tokenOf(container: string): string {
    const ranges = this.#containers.get(container) ?? new Map<string, RangeToken>()
    return [...ranges].map(([range, { text }]) => `${range}:${text}`).join(',')
  }

  #see(container: string, token: unknown): void {
    if (typeof token !== 'string') return
    for (const part of token.split(',')) {
      const [, range, text, version, lsn] = /^(\d+):((-?\d+)#(\d+)(?:#\d+=-?\d+)*)$/.exec(part) ?? []
      if (range === undefined || text === undefined) continue
      const ranges = this.#containers.get(container) ?? new Map<string, RangeToken>()
      this.#containers.set(container, ranges)
      const seen = ranges.get(range)
      const told = { text, version: Number(version), lsn: Number(lsn) }
      if (seen === undefined || isNewer(told, seen)) ranges.set(range, told)
    }
  }
}

/** A range that was moved counts on from where it was, under a higher version. */
function isNewer(one: RangeToken, other: RangeToken): boolean {
  return one.version === other.version ? one.lsn > other.lsn : one.version > other.version
}
