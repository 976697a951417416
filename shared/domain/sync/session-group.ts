import { REFUSALS } from '../../kernel/refusals.ts'
import { type GroupMembers, groupRefusal, readAllMembers, readLinkedGroup } from '../group-links/directory.ts'
import { GroupRecord } from './group-record.ts'
import { RunFault } from './run-failure.ts'
import { servicePrincipalsAmong } from './run-requirements.ts'
import type { SessionLink } from './session-link.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

const NO_MEMBERS: GroupMembers = { users: new Set(), others: new Set() }

/** The group of a session: its reads, under the lease of the link, and the record of what was read and written. */
export class SessionGroup {
  readonly record: GroupRecord
  readonly #link: SessionLink
  readonly #deps: SyncDependencies

  constructor(link: SessionLink, deps: SyncDependencies) {
    this.record = new GroupRecord(link.value)
    this.#link = link
    this.#deps = deps
  }

  /** @throws RunFault when the group was deleted or can no longer be linked, LeaseLost, DirectoryFault. */
  async verify(): Promise<void> {
    const group = await readLinkedGroup(this.#link.value, () => this.#link.assertLease(), this.#deps)
    if (group !== undefined) this.record.readName(group.displayName)
    const refusal = groupRefusal(group)
    if (refusal !== undefined) throw new RunFault(REFUSALS[refusal].message, { isPermanent: true })
  }

  /** @throws RunFault when the link is disabled, LeaseLost, DirectoryFault, Refusal `LinkNotFound`. */
  async readMembers(): Promise<GroupMembers> {
    const { tenantId, directoryGroupId } = this.#link.value
    const { directory } = this.#deps
    const members = await readAllMembers(tenantId, directoryGroupId, directory, () => this.#link.keepLease())
    this.record.readMembers(members)
    return members
  }

  /**
   * Reads the group again after additions. Source data can name something other than a user, which the directory adds.
   * @returns Added accounts that are not users, and those of them that this link has added.
   * @throws as `readMembers`.
   */
  async verifyAdditions(): Promise<{ notUsers: ReadonlySet<string>; own: ReadonlySet<string> }> {
    const { added, unchanged, own } = this.record.unverifiedAdditions
    if (added.size + unchanged.size === 0) return { notUsers: new Set(), own: new Set() }
    await this.#link.assertLease()
    const { users, others } = added.size === 0 ? NO_MEMBERS : await this.readMembers()
    const unshown = added.union(unchanged).difference(users).difference(others)
    const hidden = await servicePrincipalsAmong(unshown, this.#link.value, this.#deps)
    const notUsers = added.intersection(others).union(hidden)
    this.record.exclude(notUsers, notUsers.intersection(added).size)
    return { notUsers, own: notUsers.intersection(own) }
  }
}
