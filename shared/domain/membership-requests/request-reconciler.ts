import type { Versioned } from '../../kernel/versioned.ts'
import type { ChangeFollower } from '../collections/tenant-evaluator.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/tenant-snapshots.ts'
import { policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { freshOrgChart, notifyLinkedGroups, type RequestDependencies } from './request-dependencies.ts'
import type { RequestOutline } from './request-store.ts'
import { endRequests, isMisplaced, isOrphaned, moveToPolicy, ORPHANED_NOTE, readRequests } from './settle-requests.ts'

/** Of a process that lives long, so often at most what another one died over stays half done. */
const ALL_FOLLOWED_EVERY_MS = 24 * 60 * 60 * 1000

/**
 * Ends memberships and open requests with the people and positions that they are for. The first round of a process, each
 * that follows a failure, and one a day look at all live requests, and then also at whether collections and gates are
 * still there: so nothing that a crash left half done stays so.
 *
 * People are looked at once more after the requests were read: somebody who has come meanwhile may have joined.
 */
export class RequestReconciler implements ChangeFollower {
  readonly #deps: RequestDependencies
  /** When all was looked at, of tenants of which every change since then has been followed. */
  readonly #allFollowedAtMs = new Map<string, number>()

  constructor(deps: RequestDependencies) {
    this.#deps = deps
  }

  async follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const allFollowedAtMs = this.#allFollowedAtMs.get(tenantId)
    // Not again before this round has ended well.
    this.#allFollowedAtMs.delete(tenantId)
    const isAllDue = allFollowedAtMs === undefined || nowMs - allFollowedAtMs >= ALL_FOLLOWED_EVERY_MS
    if (changes === 'everything' || isAllDue) {
      await this.#followAll(tenantId)
      this.#allFollowedAtMs.set(tenantId, nowMs)
    } else {
      await this.#followSome(tenantId, rows, changes)
      this.#allFollowedAtMs.set(tenantId, allFollowedAtMs)
    }
  }

  async #followSome(tenantId: string, rows: RowSnapshot, { ids }: KnownChanges): Promise<void> {
    const gone = [
      ...[...ids.identity].filter((id) => !rows.has('identity', id)),
      ...[...ids.relationship].filter((id) => !rows.has('relationship', id)),
    ]
    if (gone.length === 0) return
    const concerned = await this.#deps.requests.liveOfObjects(tenantId, gone)
    if (concerned.length === 0) return
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    const baseless = concerned.filter(({ value }) => isOrphaned(value, orgChart))
    await this.#end(tenantId, baseless)
  }

  async #followAll(tenantId: string): Promise<void> {
    const { requests, collections } = this.#deps
    const outlines = await requests.liveOutlines(tenantId)
    if (outlines.length === 0) return
    const joinables = new Map((await collections.list(tenantId, { kind: 'joinable' })).map((one) => [one.id, one]))
    const orgChart = await freshOrgChart(tenantId, this.#deps)
    const baseless = outlines.filter((outline) => !joinables.has(outline.collectionId) || isOrphaned(outline, orgChart))
    await this.#end(tenantId, await this.#read(tenantId, baseless))
    for (const [collectionId, ofOne] of Map.groupBy(outlines, (outline) => outline.collectionId)) {
      const collection = joinables.get(collectionId)
      if (collection === undefined) continue
      const policy = policyOf(collection)
      const astray = ofOne.filter((outline) => isMisplaced(outline, policy))
      if (astray.length > 0) await moveToPolicy(collection, await this.#read(tenantId, astray), this.#deps)
    }
  }

  #read(tenantId: string, outlines: readonly RequestOutline[]): Promise<Versioned<MembershipRequest>[]> {
    return readRequests(
      tenantId,
      outlines.map(({ id }) => id),
      this.#deps,
    )
  }

  /** This round evaluates what depends on these memberships: only the links are to be told. */
  async #end(tenantId: string, requests: readonly Versioned<MembershipRequest>[]): Promise<void> {
    await notifyLinkedGroups(tenantId, await endRequests(requests, ORPHANED_NOTE, this.#deps), this.#deps)
  }
}
