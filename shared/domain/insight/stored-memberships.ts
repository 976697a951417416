import { LRUCache } from 'lru-cache'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import { CORE_TYPE, type JoinedMembership } from '../criteria/collection-members.ts'
import { ALL_TIME, type MemberEvent, newestEvent } from '../history/member-history.ts'
import type { RequestStore } from '../membership-requests/request-dependencies.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { CandidateCollections, type CandidateDependencies, type Candidates } from './candidate-collections.ts'

/** A stored membership of a person. */
export type StoredMembership = {
  readonly collection: Collection
  /** The position that is a member, or that the membership is for. */
  readonly relationshipId: string | null
  /** What added the member; undefined when the history is not kept that long. */
  readonly added: MemberEvent | undefined
  /** When the membership ends; null without an end, and in a criteria collection. */
  readonly endsAt: string | null
}

export type StoredMembershipDependencies = CandidateDependencies &
  Pick<CollectionDependencies, 'collections' | 'memberships' | 'history'> & {
    readonly requests: Pick<RequestStore, 'liveOf'>
  }

type OwnMembership = JoinedMembership & { readonly endsAt: string | null }

/** What is stored of one person in one criteria collection, as of a version of its members. */
type Placement = { readonly version: number; readonly members: readonly Member[] }
type Member = { readonly objectId: string; readonly added: MemberEvent | undefined }
type Known = {
  /** Before the versions were read. */
  readonly readAtMs: number
  /** The ids of the person and of their positions: others have other memberships. */
  readonly ids: string
  readonly placements: ReadonlyMap<string, Placement>
  readonly evaluated: Candidates | undefined
}

/** People whose memberships are kept in memory: about 20 MB with 200 memberships each. */
const PEOPLE_KEPT_COUNT = 500
/** The clocks of the service and the database differ by less. */
const OVERLAP_S = 300
const READS_AT_ONCE_COUNT = 20

/**
 * Finds the memberships of a person in all collections of a tenant without reading members of collections. The rows and
 * conditions in memory tell in which criteria collections to look; the newest entry of the history of the person there
 * tells whether they are stored as a member, and since when. What was found is kept in memory for as long as the
 * version of the members stays the same. A member whose condition has just stopped to hold is found if it was known.
 */
export class StoredMemberships {
  readonly #deps: StoredMembershipDependencies
  readonly #known = new LRUCache<string, Known>({ max: PEOPLE_KEPT_COUNT })
  readonly #candidates: CandidateCollections

  constructor(deps: StoredMembershipDependencies) {
    this.#deps = deps
    this.#candidates = new CandidateCollections(deps)
  }

  /** @param rows include everything that was written before. */
  async of(tenantId: string, identityId: string, rows: RowSnapshot): Promise<StoredMembership[]> {
    const readAtMs = this.#deps.nowMs()
    const [list, live] = await Promise.all([
      this.#deps.collections.list(tenantId),
      this.#deps.requests.liveOf(tenantId, identityId),
    ])
    const joinedNow = live.map(({ value }) => value).filter(({ status }) => status === 'Joined')
    const own = Map.groupBy(
      joinedNow.map(({ collectionId, relationshipId, endsAt = null }) => ({
        collectionId,
        identityId,
        relationshipId,
        endsAt,
      })),
      ({ collectionId }) => collectionId,
    )
    const collections = new Map(list.map((collection) => [collection.id, collection]))
    const [criteria, joined] = await Promise.all([
      this.#inCriteria({ tenantId, identityId, readAtMs }, collections, own, rows),
      this.#joined(tenantId, identityId, collections, own),
    ])
    return [...criteria, ...joined]
  }

  async #joined(
    tenantId: string,
    identityId: string,
    collections: ReadonlyMap<string, Collection>,
    own: ReadonlyMap<string, readonly OwnMembership[]>,
  ): Promise<StoredMembership[]> {
    const ids = [...own.keys()].filter((id) => collections.has(id))
    if (ids.length === 0) return []
    const events = await this.#deps.history.joinable.ofObjectInEach(tenantId, ids, identityId, ALL_TIME)
    return ids.flatMap((id) => {
      const collection = collections.get(id) as Collection
      // The position that an Identity collection records can become null during a membership.
      const isByPosition = collection.objectType === 'Relationship'
      return (own.get(id) ?? []).map(({ relationshipId, endsAt }): StoredMembership => {
        const isOf = ({ change, relationshipId: addedFor = null }: MemberEvent) =>
          change === 'Added' && (!isByPosition || addedFor === relationshipId)
        return { collection, relationshipId, added: events.get(id)?.find(isOf), endsAt }
      })
    })
  }

  async #inCriteria(
    {
      tenantId,
      identityId,
      readAtMs,
    }: { readonly tenantId: string; readonly identityId: string; readonly readAtMs: number },
    collections: ReadonlyMap<string, Collection>,
    own: ReadonlyMap<string, readonly JoinedMembership[]>,
    rows: RowSnapshot,
  ): Promise<StoredMembership[]> {
    const { memberships } = this.#deps
    const positions = rows.heldBy(identityId).sort()
    const ids = [identityId, ...positions].join()
    const key = `${tenantId}:${identityId}`
    const former = this.#known.get(key)
    const known = former?.ids === ids ? former : undefined
    const [evaluated, written] = await Promise.all([
      this.#candidates.of(former?.evaluated, { tenantId, identityId }, collections, own, rows),
      known === undefined
        ? new Map<string, number>()
        : memberships.versionsWrittenSince(tenantId, Math.floor(known.readAtMs / 1000) - OVERLAP_S),
    ])
    const wanted = new Set([...evaluated.collectionIds, ...(former?.placements.keys() ?? [])])
    const isCurrent = (id: string): boolean => {
      const placement = known?.placements.get(id)
      return placement !== undefined && (written.get(id) ?? placement.version) === placement.version
    }
    const stale = [...wanted].filter((id) => collections.get(id)?.kind === 'criteria' && !isCurrent(id))
    const versions = stale.length === 0 ? new Map<string, number>() : await memberships.versions(tenantId, stale)
    const placements = new Map(known?.placements)
    await forEachConcurrent(stale, READS_AT_ONCE_COUNT, async (id) => {
      const collection = collections.get(id) as Collection
      const objectIds = CORE_TYPE[objectTypeOf(collection)] === 'identity' ? [identityId] : positions
      const members = versions.has(id) ? await this.#storedAmong(collection, objectIds) : []
      placements.set(id, { version: versions.get(id) ?? 0, members })
    })
    for (const id of placements.keys()) if (!collections.has(id)) placements.delete(id)
    this.#known.set(key, { readAtMs, ids, placements, evaluated })
    return [...placements].flatMap(([id, { members }]) => {
      const collection = collections.get(id) as Collection
      const isOfPositions = CORE_TYPE[objectTypeOf(collection)] === 'relationship'
      return members.map(({ objectId, added }) => ({
        collection,
        relationshipId: isOfPositions ? objectId : null,
        added,
        endsAt: null,
      }))
    })
  }

  /** The objects that are stored as members. */
  async #storedAmong({ tenantId, id }: Collection, objectIds: readonly string[]): Promise<Member[]> {
    const { history, memberships } = this.#deps
    const members: Member[] = []
    const unknown: string[] = []
    for (const objectId of objectIds) {
      const newest = await newestEvent(history.criteria.ofObject(tenantId, id, objectId, ALL_TIME))
      if (newest === undefined) unknown.push(objectId)
      else if (newest.change === 'Added') members.push({ objectId, added: newest })
    }
    // Added before the history begins, or no member yet.
    const others = unknown.length === 0 ? [] : await memberships.membersAmong(tenantId, id, unknown)
    return [...members, ...[...others].map((objectId) => ({ objectId, added: undefined }))]
  }
}
