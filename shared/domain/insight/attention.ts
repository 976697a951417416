import { type Static, Type } from 'typebox'
import type { Caller, Role } from '../../kernel/caller.ts'
import { Closed, Described, Nullable } from '../../kernel/schema.ts'
import type { AccountClaimReader } from '../connectors/account-claims.ts'
import type { LinkLists } from '../group-links/link-store.ts'
import { countAwaiting } from '../membership-requests/list-requests.ts'
import type { RequestListDependencies } from '../membership-requests/request-dependencies.ts'
import { hasFullAccess } from '../object-access/object-access.ts'

const Counted = (description: string) => Described(Nullable(Type.Integer({ minimum: 0 })), description)

/** How many things need the attention of the caller. */
export const AttentionDto = Closed({
  failedLinks: Counted('Group links with `syncState` `Failed`. Null for a caller who may not read group links.'),
  pausedLinks: Counted('Group links with `syncState` `RemovalsPaused`; null as `failedLinks`.'),
  heldRemovals: Counted('Enabled group links with `heldRemovals`; null as `failedLinks`.'),
  lateConnectors: Counted('Connectors with `health` `Late`. Null for a caller who may not read connectors.'),
  unresolvedReferences: Counted(
    'References of the objects of connectors that lead to no object; null as `lateConnectors`.',
  ),
  accountConflicts: Counted(
    'Directory accounts that several identities claim. Null for a caller who may not read all core objects.',
  ),
  duplicates: Counted('Values of join keys that several identities share; null as `accountConflicts`.'),
  toDecide: Counted(
    'Membership requests that await the decision of the caller. Null for a caller without an identity.',
  ),
  ending: Counted('Memberships of the caller that end within seven days; null as `toDecide`.'),
})
export type AttentionDto = Static<typeof AttentionDto>

/** As long before an end as people are told of it. */
const ENDING_MS = 7 * 24 * 60 * 60 * 1000

export type AttentionDependencies = RequestListDependencies & {
  readonly linkStore: Pick<LinkLists, 'attention'>
  readonly coreObjects: Pick<AccountClaimReader, 'unmetClaims'>
  /** The number of values of join keys that several identities share. */
  countDuplicates(tenantId: string): Promise<number>
  connectorFigures(tenantId: string): Promise<{ readonly lateCount: number; readonly unresolvedCount: number }>
}

type Asker = {
  readonly caller: Caller
  /** The caller's own identity; undefined for an application, and for a user whom no identity has. */
  readonly identityId: string | undefined
  readonly linkReaders: readonly Role[]
  readonly connectorReaders: readonly Role[]
}

/**
 * What needs attention, as far as the roles of the caller go. The cost of each number grows with what needs attention,
 * not with the size of the tenant.
 */
export async function readAttention(
  { caller, identityId, linkReaders, connectorReaders }: Asker,
  deps: AttentionDependencies,
): Promise<AttentionDto> {
  const { tenantId } = caller
  const reads = (roles: readonly Role[]) => roles.some((role) => caller.roles.has(role))
  const [links, connectors, claims, duplicates, toDecide, ending] = await Promise.all([
    reads(linkReaders) ? deps.linkStore.attention(tenantId) : undefined,
    reads(connectorReaders) ? deps.connectorFigures(tenantId) : undefined,
    hasFullAccess(caller) ? deps.coreObjects.unmetClaims(tenantId) : undefined,
    hasFullAccess(caller) ? deps.countDuplicates(tenantId) : null,
    identityId === undefined ? null : countAwaiting({ tenantId, identityId }, deps),
    identityId === undefined ? null : countEnding(tenantId, identityId, deps),
  ])
  const ofState = (state: string) => links?.filter(({ syncState }) => syncState === state).length
  return {
    failedLinks: ofState('Failed') ?? null,
    pausedLinks: ofState('RemovalsPaused') ?? null,
    heldRemovals: links?.filter(({ isHeld }) => isHeld).length ?? null,
    lateConnectors: connectors?.lateCount ?? null,
    unresolvedReferences: connectors?.unresolvedCount ?? null,
    accountConflicts: claims === undefined ? null : new Set(claims.map((claim) => claim.directoryObjectId)).size,
    duplicates,
    toDecide,
    ending,
  }
}

async function countEnding(
  tenantId: string,
  identityId: string,
  deps: Pick<AttentionDependencies, 'requests' | 'nowMs'>,
): Promise<number> {
  const live = await deps.requests.liveOf(tenantId, identityId)
  const untilMs = deps.nowMs() + ENDING_MS
  return live.filter(({ value: { status, endsAt } }) => {
    return status === 'Joined' && endsAt !== undefined && Date.parse(endsAt) < untilMs
  }).length
}
