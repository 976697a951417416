import type { MembershipChange } from '../../infra/local/directory/membership-changes.ts'
import type { OrganisationModel } from './organisation-model.ts'

type Watched = {
  /** The collections that it was linked to since the last quiet point. */
  readonly collectionIds: Set<string>
  /** Accounts that it was to have all along. */
  always: Set<string>
}

/** Checks each write to a group: what may be added, and what must never be removed. */
export class GroupWatch {
  readonly #model: OrganisationModel
  readonly #serviceClientId: string
  #groups = new Map<string, Watched>()
  /**
   * By collection: accounts that it had at some moment since the last quiet point. Members are evaluated some time after a
   * change of people, and a link that is created meanwhile writes those of before: decisions, section 6.
   */
  #ever = new Map<string, Set<string>>()

  constructor(model: OrganisationModel, serviceClientId: string) {
    this.#model = model
    this.#serviceClientId = serviceClientId
  }

  /** Notes the accounts after each change of the model. */
  observe(): void {
    const collections = this.#model.accountsOfCollections()
    for (const [collectionId, { accounts }] of collections) {
      this.#ever.set(collectionId, accounts.union(this.#ever.get(collectionId) ?? new Set()))
    }
    const now = this.#model.accountsOfGroups(collections)
    for (const { groupId, collectionId } of this.#model.links.values()) {
      const watched = this.#groups.get(groupId) ?? { collectionIds: new Set(), always: new Set() }
      this.#groups.set(groupId, watched)
      watched.collectionIds.add(collectionId)
    }
    for (const [groupId, watched] of this.#groups) {
      watched.always = watched.always.intersection(now.get(groupId)?.accounts ?? new Set())
    }
  }

  /** Begins again, from a quiet point. */
  restart(): void {
    this.#groups = new Map()
    this.#ever = new Map()
    this.observe()
    for (const [groupId, { accounts }] of this.#model.accountsOfGroups()) {
      const watched = this.#groups.get(groupId)
      if (watched !== undefined) watched.always = new Set(accounts)
    }
  }

  /** @param changes all since the last quiet point @returns the faults */
  check(changes: readonly MembershipChange[]): string[] {
    return changes.flatMap(({ groupId, memberId, kind, clientId, atMs }) => {
      if (clientId !== this.#serviceClientId) return []
      const at = new Date(atMs).toISOString()
      if (kind === 'added' && !this.#everIn(groupId).has(memberId)) {
        return [`${at}: ${memberId} was added to group ${groupId}, outside of its collections`]
      }
      if (kind === 'removed' && this.#groups.get(groupId)?.always.has(memberId) === true) {
        return [`${at}: ${memberId} was removed from group ${groupId}, which it belonged to all along`]
      }
      return []
    })
  }

  #everIn(groupId: string): ReadonlySet<string> {
    const collectionIds = [...(this.#groups.get(groupId)?.collectionIds ?? [])]
    return new Set(collectionIds.flatMap((id) => [...(this.#ever.get(id) ?? [])]))
  }
}
