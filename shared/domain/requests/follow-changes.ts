import type { ChangeFollower } from '../collections/evaluate-tenant.ts'
import type { GatheredChanges, RowChanges } from '../collections/tenant-snapshots.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { Versioned } from '../versioned.ts'
import { gateOf } from './decide-request.ts'
import { policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { People } from './people.ts'
import { type RequestDependencies, tellLinks } from './request-dependencies.ts'
import type { RequestOutline } from './request-store.ts'
import { BASE_DELETED, endRequests, isBaseless, moveToPolicy, readRequests } from './settle-requests.ts'

/**
 * Ends memberships and open requests with the people and positions that they are for. The first round of a process, and
 * each that follows a failure, looks at all live requests, and then also at whether collections and gates are still
 * there: so nothing that a crash left half done stays so.
 */
export class RequestFollower implements ChangeFollower {
  readonly #deps: RequestDependencies
  /** Tenants of which every change since the last round has been followed. */
  readonly #followed = new Set<string>()

  constructor(deps: RequestDependencies) {
    this.#deps = deps
  }

  async follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void> {
    // Not again before this round has ended well.
    const isFollowed = this.#followed.delete(tenantId)
    if (changes === 'everything' || !isFollowed) await this.#followAll(tenantId, rows)
    else await this.#followSome(tenantId, rows, changes)
    this.#followed.add(tenantId)
  }

  async #followSome(tenantId: string, rows: RowSnapshot, { ids }: GatheredChanges): Promise<void> {
    const gone = [
      ...[...ids.identity].filter((id) => !rows.has('identity', id)),
      ...[...ids.relationship].filter((id) => !rows.has('relationship', id)),
    ]
    if (gone.length > 0) await this.#end(tenantId, await this.#deps.requests.liveOfObjects(tenantId, gone))
  }

  async #followAll(tenantId: string, rows: RowSnapshot): Promise<void> {
    const { requests, collections } = this.#deps
    const outlines = await requests.liveOutlines(tenantId)
    if (outlines.length === 0) return
    const joinables = new Map((await collections.list(tenantId, { kind: 'joinable' })).map((one) => [one.id, one]))
    const people = new People(rows, this.#deps.nowMs())
    const baseless = outlines.filter((outline) => !joinables.has(outline.collectionId) || isBaseless(outline, people))
    await this.#end(tenantId, await this.#read(tenantId, baseless))
    const waiting = outlines.filter(({ status }) => status === 'PendingApproval')
    for (const [collectionId, ofOne] of Map.groupBy(waiting, (outline) => outline.collectionId)) {
      const collection = joinables.get(collectionId)
      if (collection === undefined) continue
      const policy = policyOf(collection)
      const astray = ofOne.filter((outline) => gateOf(outline, policy)?.type !== outline.currentGate?.type)
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
    await tellLinks(tenantId, await endRequests(requests, BASE_DELETED, this.#deps), this.#deps)
  }
}
