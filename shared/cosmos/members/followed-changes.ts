import type { Container } from '@azure/cosmos'
import type {
  AccountsOfChange,
  ChangesOfAccounts,
  MembershipChange,
} from '../../domain/collections/membership-store.ts'
import { readDocuments } from '../batched-reads.ts'
import { CHANGE_TYPE, changesIn, parseChange, type StoredChange } from '../change-document.ts'
import { type QueryParameters, queryAll, readDocument, sqlParameters } from '../documents.ts'
import { HEAD_ID, memberChangeId, parseMembersHead } from './membership-plan.ts'

/**
 * How long a link can follow the changes of its collection one by one. A link that is further behind is compared in
 * full.
 */
const FOLLOWED_FOR_MS = 24 * 60 * 60 * 1000

/** Changes after a version that a link may follow. */
export function followedChanges(
  version: number,
  nowMs: number,
): { readonly where: string; readonly parameters: QueryParameters } {
  const where = 'c.type = @type AND c.membershipVersion > @version AND c.atMs > @since'
  return { where, parameters: { type: CHANGE_TYPE, version, since: nowMs - FOLLOWED_FOR_MS } }
}

/** Whether a link may still follow a change. */
function isFollowed({ atMs }: StoredChange, nowMs: number): boolean {
  return atMs > nowMs - FOLLOWED_FOR_MS
}

/**
 * The changes from one version of a membership to the current one, in order. Undefined when a link cannot follow them,
 * because some are too old or too large: then only a full comparison shows the difference.
 * @param found In any order. May include changes after the current version, written concurrently.
 */
export function historySince(
  version: number,
  currentVersion: number,
  found: readonly StoredChange[],
): MembershipChange[] | undefined {
  const changes = unbroken(version, currentVersion, found)
  if (changes === undefined || changes.some(({ partsOf, isFirst }) => partsOf !== undefined || isFirst))
    return undefined
  return changes.map((change) => {
    const causes = changesIn(change)
    return { added: causes.flatMap(({ added }) => added), removed: causes.flatMap(({ removed }) => removed) }
  })
}

/** The accounts of these changes. Undefined when one of them was stored without its accounts. `found` as above. */
function accountsSince(
  version: number,
  currentVersion: number,
  found: readonly StoredChange[],
): AccountsOfChange[] | undefined {
  const accounts = unbroken(version, currentVersion, found)?.map((change) => change.accounts)
  return accounts?.every((account) => account !== undefined) ? accounts : undefined
}

function unbroken(version: number, currentVersion: number, found: readonly StoredChange[]): StoredChange[] | undefined {
  const changes = found.toSorted((left, right) => left.membershipVersion - right.membershipVersion)
  const isUnbroken = changes.every(({ membershipVersion }, index) => membershipVersion === version + 1 + index)
  return isUnbroken && changes.length >= currentVersion - version ? changes : undefined
}

type FollowedCriteriaChanges = {
  /** See `historySince`. */
  changesBetween(partition: string, version: number, currentVersion: number): Promise<MembershipChange[] | undefined>
  /** As `MembershipStore` promises. */
  accountsAfter(partition: string, version: number): Promise<ChangesOfAccounts | undefined>
}

/** The changes of criteria collections that links follow, with their accounts. Container `members`. */
export function followedCriteriaChanges(members: Container, nowMs: () => number): FollowedCriteriaChanges {
  /** The changes after a version that a link may follow, in any order. */
  async function changesOf(partition: string, membershipVersion: number): Promise<StoredChange[]> {
    const { where, parameters } = followedChanges(membershipVersion, nowMs())
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return (await queryAll<object>(members, partition, query)).map(parseChange)
  }

  /** The accounts from a change up to a version. The usual case is one change. */
  async function accountsFrom(
    partition: string,
    first: StoredChange,
    version: number,
  ): Promise<readonly AccountsOfChange[] | undefined> {
    if (first.accounts === undefined || !isFollowed(first, nowMs())) return undefined
    if (first.membershipVersion === version) return [first.accounts]
    const before = first.membershipVersion - 1
    return accountsSince(before, version, await changesOf(partition, before))
  }

  async function accountsOfVersion(partition: string, version: number): Promise<AccountsOfChange | undefined> {
    const document = await readDocument(members, memberChangeId(version), partition)
    return document && parseChange(document).accounts
  }

  return {
    async changesBetween(partition, version, currentVersion) {
      return historySince(version, currentVersion, await changesOf(partition, version))
    },
    async accountsAfter(partition, membershipVersion) {
      const nextId = memberChangeId(membershipVersion + 1)
      const found = await readDocuments<object>(members, partition, [HEAD_ID, nextId])
      const [headDocument, next] = [found.get(HEAD_ID), found.get(nextId)]
      if (headDocument === undefined) return undefined
      const { definitionKey, membershipVersion: version } = parseMembersHead(headDocument)
      if (next === undefined && version !== membershipVersion) return undefined
      const changes = next === undefined ? [] : await accountsFrom(partition, parseChange(next), version)
      if (changes === undefined) return undefined
      const last = changes.at(-1) ?? (await accountsOfVersion(partition, version))
      return last && { changes, last, definitionKey }
    },
  }
}
