import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { schemaName } from '../core/attribute-names.ts'
import type { RenamedIdentities } from '../criteria/named-identities.ts'
import type { ChangeReconciler } from '../evaluation/tenant-evaluator.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/rows/row-changes.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { applyPolicyToWaiting, isMisplaced } from './apply-policy.ts'
import { readRequests } from './apply-transitions.ts'
import { renameDeputies } from './deputies.ts'
import { policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { readObjectStatuses } from './object-statuses.ts'
import { reconcileRequests } from './reconcile-requests.ts'
import { identitiesNamedBy, renameInDefinitions } from './rename-identities.ts'
import {
  freshOrgChart,
  notifyLinkedGroups,
  type ReconciliationDependencies,
  type RequestOutline,
} from './request-dependencies.ts'

/** Bounds how long a process keeps relying on changes alone, in case another process was interrupted. */
const FULL_PASS_INTERVAL_MS = 24 * 60 * 60 * 1000

/**
 * Keeps requests, join policies and conditions in line with the core objects: what an identity had that was merged
 * belongs to the one that remains, what ended by a deletion comes back with the deleted object. A full pass checks
 * everything; it runs first in each process, after each failure, and once a day. It completes what an interrupted
 * process has left.
 *
 * The org chart is read again after the requests: an identity created in the meantime may have joined.
 */
export class RequestReconciler implements ChangeReconciler {
  readonly #deps: ReconciliationDependencies
  /** Time of the last full pass, for tenants whose changes have all been processed since. */
  readonly #fullPassAtMs = new Map<string, number>()

  constructor(deps: ReconciliationDependencies) {
    this.#deps = deps
  }

  async reconcile(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<boolean> {
    const nowMs = this.#deps.nowMs()
    const fullPassAtMs = this.#fullPassAtMs.get(tenantId)
    // Restored only when this pass succeeds.
    this.#fullPassAtMs.delete(tenantId)
    const isFullPassDue = fullPassAtMs === undefined || nowMs - fullPassAtMs >= FULL_PASS_INTERVAL_MS
    const isFull = changes === 'everything' || isFullPassDue
    const isRewritten = isFull
      ? await this.#reconcileAll(tenantId)
      : await this.#reconcileChanged(tenantId, rows, changes)
    this.#fullPassAtMs.set(tenantId, isFull ? nowMs : fullPassAtMs)
    return isRewritten
  }

  async #reconcileChanged(
    tenantId: string,
    rows: RowSnapshot,
    { rewritten, attributes, isAnyRestored }: KnownChanges,
  ): Promise<boolean> {
    const { requests, collections } = this.#deps
    const deletedIdentities = [...rewritten.identity].filter((id) => !rows.has('identity', id))
    const positions = [...rewritten.relationship].filter(
      (id) => !rows.has('relationship', id) || attributes.has(HOLDER),
    )
    const affected = [...deletedIdentities, ...positions]
    const live = affected.length === 0 ? [] : await requests.liveOfObjects(tenantId, affected)
    const renamed = await this.#renamed(tenantId, deletedIdentities)
    // A deleted person can come back as a part of an identity whose row does not change.
    const restorable = isAnyRestored || renamed.size > 0 ? await requests.restorable(tenantId, this.#deps.nowMs()) : []
    if (renamed.size > 0) await renameDeputies(await this.#deps.deputies.all(tenantId), renamed, this.#deps)
    const isRewritten =
      renamed.size > 0 && (await renameInDefinitions(await collections.list(tenantId), renamed, this.#deps))
    await this.#reconcile(tenantId, [...live, ...restorable])
    if (isRewritten) await this.#moveMisplaced(tenantId, await requests.liveOutlines(tenantId))
    return isRewritten
  }

  async #reconcileAll(tenantId: string): Promise<boolean> {
    const { requests, collections } = this.#deps
    const outlines = await requests.liveOutlines(tenantId)
    // After the requests: the collection of each of them is in the list, unless it was deleted.
    const all = await collections.list(tenantId)
    const deputies = await this.#deps.deputies.all(tenantId)
    const deputyIds = deputies.flatMap(({ value }) => [value.identityId, value.deputyId])
    const renamed = await this.#renamed(tenantId, [...all.flatMap(identitiesNamedBy), ...deputyIds])
    await renameDeputies(deputies, renamed, this.#deps)
    const isRewritten = await renameInDefinitions(all, renamed, this.#deps)
    const suspect = outlines.length === 0 ? [] : await this.#suspectAmong(tenantId, outlines, all)
    // A membership of a collection that was deleted does not come back.
    const hasJoinables = all.some(({ kind }) => kind === 'joinable')
    const restorable = hasJoinables ? await requests.restorable(tenantId, this.#deps.nowMs()) : []
    await this.#reconcile(tenantId, [...(await this.#read(tenantId, suspect)), ...restorable])
    await this.#moveMisplaced(tenantId, outlines)
    return isRewritten
  }

  /** The requests that may have to end or move. */
  async #suspectAmong(
    tenantId: string,
    outlines: readonly RequestOutline[],
    collections: readonly Collection[],
  ): Promise<readonly RequestOutline[]> {
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    const joinableIds = new Set(collections.filter(({ kind }) => kind === 'joinable').map(({ id }) => id))
    return outlines.filter((outline) => !joinableIds.has(outline.collectionId) || isSuspect(outline, orgChart))
  }

  /** The identities among these that were merged into others. */
  async #renamed(tenantId: string, identityIds: readonly string[]): Promise<RenamedIdentities> {
    if (identityIds.length === 0) return new Map()
    const statuses = await readObjectStatuses(tenantId, identityIds, this.#deps)
    return new Map(
      identityIds.flatMap((id) => {
        const status = statuses.identity(id)
        return status.isLive && status.id !== id ? [[id, status.id] as const] : []
      }),
    )
  }

  /** Moves waiting requests that another version of their policy has placed. */
  async #moveMisplaced(tenantId: string, outlines: readonly RequestOutline[]): Promise<void> {
    const isWaiting = ({ status, extensionPolicyVersion }: RequestOutline) =>
      status === 'PendingApproval' || extensionPolicyVersion !== undefined
    const waiting = outlines.filter(isWaiting)
    if (waiting.length === 0) return
    const joinables = await this.#deps.collections.list(tenantId, 'joinable')
    const byCollection = Map.groupBy(waiting, ({ collectionId }) => collectionId)
    for (const collection of joinables) {
      const policy = policyOf(collection)
      const misplaced = (byCollection.get(collection.id) ?? []).filter((outline) => isMisplaced(outline, policy))
      if (misplaced.length > 0) {
        await applyPolicyToWaiting(collection, await this.#read(tenantId, misplaced), this.#deps)
      }
    }
  }

  #read(tenantId: string, outlines: readonly RequestOutline[]): Promise<Versioned<MembershipRequest>[]> {
    return readRequests(
      tenantId,
      outlines.map(({ id }) => id),
      this.#deps,
    )
  }

  /** Enqueues messages for links only: the current pass evaluates the collections that depend on these memberships. */
  async #reconcile(tenantId: string, requests: readonly Versioned<MembershipRequest>[]): Promise<void> {
    await reconcileRequests(tenantId, requests, this.#deps, (ids) => notifyLinkedGroups(tenantId, ids, this.#deps))
  }
}

const HOLDER = schemaName('relationship', 'identity')

/** Whether the subject or the position no longer exists, or another identity holds the position. */
function isSuspect({ requesterId, relationshipId }: RequestOutline, orgChart: OrgChart): boolean {
  if (!orgChart.has('identity', requesterId)) return true
  return relationshipId !== null && orgChart.holderOf(relationshipId) !== requesterId
}
