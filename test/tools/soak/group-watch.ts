import type { MembershipChange } from '../../../infra/local/directory/membership-changes.ts'
import { isMembership, type MembersWithAccounts, type OrganisationModel } from './organisation-model.ts'
import { SOURCE_NAMES } from './people-model.ts'
import { mayBeJoined } from './request-model.ts'

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
  /** Of each source since the last quiet point. */
  readonly #joinKeys = new Set<string>()
  #groups = new Map<string, Watched>()
  /**
   * By collection: members at some moment since the last quiet point. Members are evaluated some time after a change of
   * people, and a link that is created meanwhile writes those of before, with their accounts of then.
   */
  #membersOf = new Map<string, Set<string>>()
  /** By member: accounts at some moment since the last quiet point. */
  #accountsOf = new Map<string, Set<string>>()

  constructor(model: OrganisationModel, serviceClientId: string) {
    this.#model = model
    this.#serviceClientId = serviceClientId
  }

  /** Notes the accounts after each change of the model. */
  observe(): void {
    const now = this.#model.membersWithAccounts()
    const possible = this.#model.membersWithAccounts(mayBeJoined)
    for (const { membersOf, accountOf } of [now, possible, ...this.#withCardsAlone()]) {
      for (const [collectionId, members] of membersOf) addTo(this.#membersOf, collectionId, members)
      for (const [member, account] of accountOf) {
        if (account !== undefined) addTo(this.#accountsOf, member, [account])
      }
    }
    const groups = this.#model.accountsOfGroups(now)
    for (const { groupId, collectionId } of this.#model.links.values()) {
      const watched = this.#groups.get(groupId) ?? { collectionIds: new Set(), always: new Set() }
      this.#groups.set(groupId, watched)
      watched.collectionIds.add(collectionId)
    }
    for (const [groupId, watched] of this.#groups) {
      watched.always = watched.always.intersection(groups.get(groupId)?.accounts ?? new Set())
    }
  }

  /** A new join key is pending for a time: a card that is delivered meanwhile is a person of its own until it is in use. */
  #withCardsAlone(): MembersWithAccounts[] {
    const { people } = this.#model
    for (const source of SOURCE_NAMES) this.#joinKeys.add(`${source} ${people.rulesOf(source).joinOn}`)
    if (this.#joinKeys.size === SOURCE_NAMES.length) return []
    return [this.#model.membersWithAccounts(isMembership, people.rows(people.identities(false)))]
  }

  /** Begins again, from a quiet point. */
  restart(): void {
    this.#joinKeys.clear()
    this.#groups = new Map()
    this.#membersOf = new Map()
    this.#accountsOf = new Map()
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
    const members = collectionIds.flatMap((id) => [...(this.#membersOf.get(id) ?? [])])
    return new Set(members.flatMap((member) => [...(this.#accountsOf.get(member) ?? [])]))
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, values: readonly string[]): void {
  const known = sets.get(key) ?? new Set()
  sets.set(key, known)
  for (const value of values) known.add(value)
}
