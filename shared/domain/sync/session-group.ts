import { REFUSALS } from '../../kernel/refusal-register.ts'
import { type GroupMembers, groupRefusal, readAllMembers } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { GroupRecord } from './group-record.ts'
import { readLinkedGroup } from './linked-group.ts'
import { RunFault } from './run-failure.ts'
import type { SessionLink } from './session-link.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

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

  /** Changes the link and records what this session has read and written. @throws as `SessionLink.change`. */
  async changeLink(change: (link: GroupLink) => Partial<GroupLink>): Promise<void> {
    const nowMs = this.#deps.nowMs()
    await this.#link.change((before) => {
      const link = this.record.recordedWith(before, nowMs)
      return { ...link, ...change(link) }
    })
    this.record.saved()
  }
}
