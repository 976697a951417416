import { holds, type SoakCondition } from './condition-model.ts'
import { type ModelRow, PeopleModel } from './people-model.ts'
import type { ModelPolicy, ModelRequest } from './request-model.ts'
import type { Span } from './times.ts'

export type MemberKind = 'Identity' | 'Relationship'
export type CriteriaModel = { readonly objectType: MemberKind; condition: SoakCondition }
export type JoinableModel = {
  policy: ModelPolicy
  /** When the policy was set. */
  policySet: Span
  readonly requests: ModelRequest[]
}
export type MailChoice = { readonly mail: 'Immediately' | 'Daily' | 'None'; readonly set: Span }
export type LinkModel = { readonly collectionId: string; readonly groupId: string; isEnabled: boolean }

/**
 * Members by collection: national identity numbers in collections of identities, external ids in collections of
 * relationships.
 */
export type ModelMembers = ReadonlyMap<string, ReadonlySet<string>>

/** The accounts that a group must have, and how many members have none. */
export type ModelAccounts = { readonly accounts: ReadonlySet<string>; readonly missingCount: number }

/** By member, which is a kind and an id in one text. */
export type MembersWithAccounts = {
  readonly membersOf: ReadonlyMap<string, readonly string[]>
  readonly accountOf: ReadonlyMap<string, string | undefined>
}

/** The whole organisation as its acknowledged requests made it. */
export class OrganisationModel {
  readonly people = new PeopleModel()
  timeZone = 'UTC'
  /** The date in the time zone. */
  today = '1970-01-01'
  /** In order of creation: a condition refers only to earlier collections. */
  readonly criteria = new Map<string, CriteriaModel>()
  readonly joinable = new Map<string, JoinableModel>()
  readonly links = new Map<string, LinkModel>()
  /** By the national identity number of those whom they represent. */
  readonly deputies = new Map<string, string>()
  /** By the person who is represented. */
  readonly deputyEndsMs = new Map<string, number>()
  /** When members of staff get mails, by national identity number: at once where nothing is chosen. */
  readonly mailChoices = new Map<string, MailChoice>()
  /** Whether removals are held. */
  isGuarded = false
  /** Links whose removals can still be held, although the guard is off: until their next sync. */
  readonly linksWithHolds = new Set<string>()

  /** All enabled links are synced. */
  releaseHolds(): void {
    if (this.isGuarded) return
    for (const [linkId, { isEnabled }] of this.links) if (isEnabled) this.linksWithHolds.delete(linkId)
  }

  /** @param isJoined Which requests count as memberships. */
  members(rows: readonly ModelRow[] = this.people.rows(), isJoined = isMembership): ModelMembers {
    const members = new Map<string, Set<string>>()
    const joined = new Map<string, ReadonlyMap<string, readonly ModelRequest[]>>()
    for (const [id, { requests }] of this.joinable) {
      const byMember = Map.groupBy(requests.filter(isJoined), ({ nin }) => nin)
      joined.set(id, byMember)
      members.set(id, new Set(byMember.keys()))
    }
    const isMember = (collectionId: string, row: ModelRow): boolean => {
      const memberships = joined.get(collectionId)
      if (memberships !== undefined) return isJoinedIn(memberships, row)
      const member = memberOf(row, this.criteria.get(collectionId)?.objectType ?? 'Identity')
      return member !== undefined && members.get(collectionId)?.has(member) === true
    }
    for (const [id, { objectType, condition }] of this.criteria) {
      const found = new Set<string>()
      for (const row of rows) {
        const member = memberOf(row, objectType)
        if (member !== undefined && holds(condition, row, { isMember, today: this.today })) found.add(member)
      }
      members.set(id, found)
    }
    return members
  }

  /** The members of each collection, and the accounts of all members. */
  membersWithAccounts(isJoined = isMembership, rows = this.people.rows()): MembersWithAccounts {
    const accountOf = new Map<string, string | undefined>()
    for (const { identity, relationship } of rows) {
      if (identity !== undefined) accountOf.set(`Identity ${identity.nin}`, identity.account)
      if (relationship !== undefined) accountOf.set(`Relationship ${relationship.externalId}`, identity?.account)
    }
    const membersOf = new Map<string, readonly string[]>()
    for (const [id, members] of this.members(rows, isJoined)) {
      const kind = this.criteria.get(id)?.objectType ?? 'Identity'
      membersOf.set(
        id,
        [...members].map((member) => `${kind} ${member}`),
      )
    }
    return { membersOf, accountOf }
  }

  /** By group with an enabled link. */
  accountsOfGroups({ membersOf, accountOf } = this.membersWithAccounts()): Map<string, ModelAccounts> {
    const groups = new Map<string, ModelAccounts>()
    for (const { collectionId, groupId, isEnabled } of this.links.values()) {
      if (!isEnabled) continue
      const accounts = (membersOf.get(collectionId) ?? []).map((member) => accountOf.get(member))
      const known = new Set(accounts.filter((account) => account !== undefined))
      groups.set(groupId, { accounts: known, missingCount: accounts.filter((account) => account === undefined).length })
    }
    return groups
  }
}

export const isMembership = ({ status }: ModelRequest): boolean => status === 'Joined'

/** A membership for a position counts for the row of that position. */
function isJoinedIn(
  joined: ReadonlyMap<string, readonly ModelRequest[]>,
  { identity, relationship }: ModelRow,
): boolean {
  const memberships = joined.get(identity?.nin ?? '') ?? []
  return memberships.some(({ position }) => position === undefined || position === relationship?.externalId)
}

function memberOf({ identity, relationship }: ModelRow, objectType: MemberKind): string | undefined {
  return objectType === 'Identity' ? identity?.nin : relationship?.externalId
}
