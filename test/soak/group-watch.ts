import type { MembershipChange } from '../../infra/local/directory/membership-changes.ts'
import type { OrganisationModel } from './organisation-model.ts'

type Watched = {
  /** Accounts that the group was to have at some moment since the last quiet point. */
  readonly ever: Set<string>
  /** Accounts that it was to have all along. */
  always: Set<string>
}

/** Checks each write to a group: what may be added, and what must never be removed. */
export class GroupWatch {
  readonly #model: OrganisationModel
  readonly #serviceClientId: string
  #groups = new Map<string, Watched>()

  constructor(model: OrganisationModel, serviceClientId: string) {
    this.#model = model
    this.#serviceClientId = serviceClientId
  }

  /** Notes the accounts after each change of the model. */
  observe(): void {
    const now = this.#model.accountsOfGroups()
    for (const [groupId, { accounts }] of now) {
      const watched = this.#groups.get(groupId) ?? { ever: new Set(), always: new Set() }
      this.#groups.set(groupId, watched)
      for (const account of accounts) watched.ever.add(account)
    }
    for (const [groupId, watched] of this.#groups) {
      watched.always = watched.always.intersection(now.get(groupId)?.accounts ?? new Set())
    }
  }

  /** Begins again, from a quiet point. */
  restart(): void {
    this.#groups = new Map()
    for (const [groupId, { accounts }] of this.#model.accountsOfGroups()) {
      this.#groups.set(groupId, { ever: new Set(accounts), always: new Set(accounts) })
    }
  }

  /** @param changes all since the last quiet point @returns the faults */
  check(changes: readonly MembershipChange[]): string[] {
    return changes.flatMap(({ groupId, memberId, kind, clientId, atMs }) => {
      if (clientId !== this.#serviceClientId) return []
      const watched = this.#groups.get(groupId)
      const at = new Date(atMs).toISOString()
      if (kind === 'added' && watched?.ever.has(memberId) !== true) {
        return [`${at}: ${memberId} was added to group ${groupId}, outside of its collections`]
      }
      if (kind === 'removed' && watched?.always.has(memberId) === true) {
        return [`${at}: ${memberId} was removed from group ${groupId}, which it belonged to all along`]
      }
      return []
    })
  }

  everIn(groupId: string): ReadonlySet<string> {
    return this.#groups.get(groupId)?.ever ?? new Set()
  }
}
