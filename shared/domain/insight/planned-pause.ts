import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { RowObjectType } from '../criteria/collection-members.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { PausedByDto } from '../group-links/removal-pause.ts'
import { type Bitmap, hasBit } from '../tenant-index/rows/bitmap.ts'
import { slotsIn } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { TextDictionary } from '../tenant-index/rows/text-dictionary.ts'

/** Members that a plan names. */
const NAMED_COUNT = 20

/** Takes a millisecond. */
const SLOTS_PER_STEP_COUNT = 10_000

/**
 * The identities of the members without an account after a planned change, one for each member. A vacancy has no person
 * and needs no account. The same for all links of the collection.
 */
export function* slotsWithoutAccount(objectType: RowObjectType, members: Bitmap, rows: RowSnapshot): Task<number[]> {
  const account = rows.tables.identity.column('directoryObjectId')
  const holder = rows.link('identity')
  const without: number[] = []
  let count = 0
  for (const slot of slotsIn(members)) {
    if (count % SLOTS_PER_STEP_COUNT === 0) yield
    count += 1
    const identity = objectType === 'Identity' ? slot : holder.codeAt(slot)
    if (identity !== 0 && account.codeAt(identity) === 0) without.push(identity)
  }
  return without
}

/**
 * Which members pause the removals of a link after a planned change, as a sync counts them: without an account or with
 * one that the last job could not add, unless the link accepts them. Null when none do.
 * @param accounts Codes of the accounts of all members.
 */
export function plannedPause(
  { unresolved, acceptedWithoutAccount }: GroupLink,
  without: readonly number[],
  accounts: Bitmap,
  { rows, dictionary }: { readonly rows: RowSnapshot; readonly dictionary: TextDictionary },
): PausedByDto | null {
  const { identity } = rows.tables
  const { ids } = identity
  const account = identity.column('directoryObjectId')
  const accepted = new Set(acceptedWithoutAccount.map((id) => ids.codeOf(id)).filter((slot) => slot !== 0))
  const acceptedAccounts = new Set([...accepted].map((slot) => account.codeAt(slot)))
  const counted = without.filter((slot) => !accepted.has(slot))
  const unknown = unresolved.filter((account) => {
    const code = dictionary.codeOf(account)
    return code !== 0 && hasBit(accounts, code) && !acceptedAccounts.has(code)
  })
  const count = counted.length + unknown.length
  if (count === 0) return null
  const members = [
    ...counted.slice(0, NAMED_COUNT).map((slot) => {
      // A position can refer to a person who does not exist yet.
      const identityId = identity.isLive(slot) ? ids.idOf(slot) : null
      const displayName = identityId === null ? null : (rows.textOf('identity', 'displayName', identityId) ?? null)
      return { identityId, displayName, directoryObjectId: null }
    }),
    ...unknown.map((directoryObjectId) => ({ identityId: null, displayName: null, directoryObjectId })),
  ]
  return {
    reason: counted.length > 0 ? 'MembersWithoutAccount' : 'AccountsUnknown',
    count,
    members: members.slice(0, NAMED_COUNT),
  }
}
