import { type PluginConfig, PluginOn } from '@azure/cosmos'

/** What an instance has seen of the database: session tokens by container id. Messages carry it to other instances. */
export type SessionTokens = Readonly<Record<string, string>>

/** https://learn.microsoft.com/azure/cosmos-db/consistency-levels */
const TOKEN_HEADER = 'x-ms-session-token'
const READ_SESSION_NOT_AVAILABLE = 1002

/** `version#LSN`. In an account with several regions, followed by the LSNs of the regions. */
type RangeToken = { readonly text: string; readonly version: number; readonly lsn: number }

/** The tokens of a container's ranges, and all of them as one header. */
type ContainerToken = { readonly ranges: Map<string, RangeToken>; header: string }

/**
 * The session of a client: the latest state that it has seen of each container and partition key range. Every request
 * sends it, so that no read is older. The SDK keeps the same tokens but does not share them. This session can continue
 * from the tokens of another instance.
 */
export class DatabaseSession {
  readonly #containers = new Map<string, ContainerToken>()

  tokens(): SessionTokens {
    return Object.fromEntries([...this.#containers].map(([container, { header }]) => [container, header]))
  }

  /** Later reads are not older than these tokens. Ignores invalid tokens. */
  advance(tokens: SessionTokens): void {
    for (const [container, token] of Object.entries(tokens)) this.#see(container, token)
  }

  /** The plugin of the client that uses this session. */
  plugin(): PluginConfig {
    return {
      on: PluginOn.request,
      plugin: async (context, _diagnostics, next) => {
        const [, container] = /^\/?dbs\/[^/]+\/colls\/([^/]+)\/docs/.exec(context.path ?? '') ?? []
        if (container === undefined) return next(context)
        const token = this.#containers.get(container)?.header
        if (token !== undefined && context.headers !== undefined) context.headers[TOKEN_HEADER] = token
        try {
          const response = await next(context)
          this.#see(container, response.headers[TOKEN_HEADER])
          return response
        } catch (error) {
          const { substatus, headers } = error as { substatus?: number; headers?: Record<string, unknown> }
          // No reachable replica has this state, as after the loss of a region. The SDK drops its token too and
          // retries.
          if (substatus === READ_SESSION_NOT_AVAILABLE) this.#containers.delete(container)
          else this.#see(container, headers?.[TOKEN_HEADER])
          throw error
        }
      },
    }
  }

  #see(container: string, token: unknown): void {
    // Most responses repeat the state that was seen before.
    if (typeof token !== 'string' || token === this.#containers.get(container)?.header) return
    for (const part of token.split(',')) {
      const [, range, text, version, lsn] = /^(\d+):((-?\d+)#(\d+)(?:#\d+=-?\d+)*)$/.exec(part) ?? []
      if (range === undefined || text === undefined) continue
      const seen = this.#containers.get(container) ?? { ranges: new Map<string, RangeToken>(), header: '' }
      this.#containers.set(container, seen)
      const before = seen.ranges.get(range)
      const next = { text, version: Number(version), lsn: Number(lsn) }
      if (before !== undefined && !isNewer(next, before)) continue
      seen.ranges.set(range, next)
      seen.header = [...seen.ranges].map(([id, { text: state }]) => `${id}:${state}`).join(',')
    }
  }
}

/** A range that was moved continues its LSNs under a higher version. */
function isNewer(one: RangeToken, other: RangeToken): boolean {
  return one.version === other.version ? one.lsn > other.lsn : one.version > other.version
}
