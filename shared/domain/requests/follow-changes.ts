import type { ChangeFollower } from '../collections/evaluate-tenant.ts'
import type { GatheredChanges, RowChanges } from '../collections/tenant-snapshots.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { Versioned } from '../versioned.ts'
import { gateOf } from './decide-request.ts'
import { policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { type RequestDependencies, tellLinks } from './request-dependencies.ts'
import type { RequestOutline } from './request-store.ts'
import { endRequests, moveToPolicy } from './settle-requests.ts'

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
    const isWhole = changes === 'everything' || !this.#followed.delete(tenantId)
    if (isWhole) await this.#followAll(tenantId, rows)
    else await this.#followSome(tenantId, rows, changes)
    this.#followed.add(tenantId)
  }

  async #followSome(tenantId: string, rows: RowSnapshot, { ids }: GatheredChanges): Promise<void> {
    const gone = [
      ...[...ids.identity].filter((id) => !isThere('identity', id, rows)),
      ...[...ids.relationship].filter((id) => !isThere('relationship', id, rows)),
    ]
    if (gone.length > 0) await this.#end(tenantId, await this.#deps.requests.liveOfObjects(tenantId, gone))
  }

  async #followAll(tenantId: string, rows: RowSnapshot): Promise<void> {
    const { requests, collections } = this.#deps
    const outlines = await requests.liveOutlines(tenantId)
    if (outlines.length === 0) return
    const joinables = new Map((await collections.list(tenantId, { kind: 'joinable' })).map((one) => [one.id, one]))
    const baseless = outlines.filter((outline) => !joinables.has(outline.collectionId) || isBaseless(outline, rows))
    await this.#end(tenantId, await this.#read(tenantId, baseless))
    for (const [collectionId, collection] of joinables) {
      const astray = outlines.filter(
        (outline) =>
          outline.collectionId === collectionId &&
          outline.status === 'PendingApproval' &&
          gateOf(outline, policyOf(collection))?.type !== outline.currentGate?.type,
      )
      if (astray.length > 0) await moveToPolicy(collection, await this.#read(tenantId, astray), this.#deps)
    }
  }

  async #read(tenantId: string, outlines: readonly RequestOutline[]): Promise<Versioned<MembershipRequest>[]> {
    const found: Versioned<MembershipRequest>[] = []
    for (const { id } of outlines) {
      const request = await this.#deps.requests.find(tenantId, id)
      if (request !== undefined) found.push(request)
    }
    return found
  }

  /** This round evaluates what depends on these memberships: only the links are to be told. */
  async #end(tenantId: string, requests: readonly Versioned<MembershipRequest>[]): Promise<void> {
    const reason = 'The person, the position or the collection was deleted'
    await tellLinks(tenantId, await endRequests(requests, reason, this.#deps), this.#deps)
  }
}

function isBaseless({ requesterId, relationshipId }: RequestOutline, rows: RowSnapshot): boolean {
  return (
    !isThere('identity', requesterId, rows) ||
    (relationshipId !== null && !isThere('relationship', relationshipId, rows))
  )
}

function isThere(objectType: 'identity' | 'relationship', id: string, rows: RowSnapshot): boolean {
  const table = rows.tables[objectType]
  return table.isLive(table.ids.codeOf(id))
}
