import type { Versioned } from '../../kernel/versioned.ts'
import type { GroupLink, Lease } from '../group-links/group-link.ts'
import { changeLeasedLink, renewedLease, renewLease } from '../group-links/link-lease.ts'
import { DEFAULT_LINK_SETTINGS, type LinkSettings } from '../group-links/link-settings.ts'
import { LINK_DISABLED } from '../group-links/sync-state.ts'
import { RunFault } from './run-failure.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

type LinkDependencies = Pick<SyncDependencies, 'links' | 'leaseMs' | 'nowMs'>

/**
 * The link of a session, as this worker last read or wrote it, and the lease under which the worker writes to the
 * group.
 */
export class SessionLink {
  readonly #deps: LinkDependencies
  #value: GroupLink
  #lease: Lease
  #settings: LinkSettings = DEFAULT_LINK_SETTINGS

  private constructor(value: GroupLink, lease: Lease, deps: LinkDependencies) {
    this.#deps = deps
    this.#value = value
    this.#lease = lease
  }

  /** Acquires the lease. @throws Refusal `LinkNotFound`, `StaleVersion` after a conflict. */
  static async acquire(link: Versioned<GroupLink>, lease: Lease, deps: LinkDependencies): Promise<SessionLink> {
    // This worker reads what other workers wait to write.
    const acquired = { ...link.value, lease, lastToken: lease.token, changesPending: false }
    const leased = await deps.links.replace(acquired, link.version)
    return new SessionLink(leased.value, lease, deps)
  }

  get value(): GroupLink {
    return this.#value
  }

  get lease(): Lease {
    return this.#lease
  }

  /** The tenant's settings as of the last `assertLease`. */
  get settings(): LinkSettings {
    return this.#settings
  }

  /**
   * Reads the link and renews the lease: see `renewLease`.
   * @throws RunFault when the link is disabled, LeaseLost, Refusal `LinkNotFound`.
   */
  async assertLease(): Promise<void> {
    const { link, lease, settings } = await renewLease(this.#leased, this.#deps)
    this.#value = link
    this.#settings = settings
    this.#lease = lease
    if (link.state === 'Disabled') throw new RunFault(LINK_DISABLED, { isPermanent: true })
  }

  /** Only keeps the lease from ending: for reads, which do no harm without it. @throws as `assertLease`. */
  async keepLease(): Promise<void> {
    const { leaseMs, nowMs } = this.#deps
    if (renewedLease(this.#lease, leaseMs, nowMs()) !== undefined) await this.assertLease()
  }

  /** @throws LeaseLost, and as `changeLink`. */
  async change(change: (link: GroupLink) => GroupLink): Promise<void> {
    this.#value = (await changeLeasedLink(this.#leased, change, this.#deps)).value
  }

  get #leased() {
    const { tenantId, id: linkId } = this.#value
    return { tenantId, linkId, lease: this.#lease }
  }
}
