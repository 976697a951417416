import type { Carriers } from './carriers.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { Identity, IdentityIndex, WrittenIdentity } from './identity-index.ts'
import type { CoreObjectIds } from './own-core-objects.ts'

/** No request takes longer: the platform ends one that has not answered after 230 seconds. */
const LONGEST_WRITE_MS = 230_000

/** Finds the deleted identities that others of their connector replace: those of a person under a new external id. */
export class ReplacedIdentities {
  readonly #index: IdentityIndex
  readonly #carriers: Carriers
  readonly #ids: Pick<CoreObjectIds, 'ownCoreObjectId'>
  /** Identities that decisions so far have deleted. */
  readonly #deleted = new Set<string>()

  constructor(index: IdentityIndex, carriers: Carriers, ids: Pick<CoreObjectIds, 'ownCoreObjectId'>) {
    this.#index = index
    this.#carriers = carriers
    this.#ids = ids
  }

  recordDeletion(id: string): void {
    this.#deleted.add(id)
  }

  /**
   * The core object of the one identity of the same connector that had a join key of the returning identity and is
   * deleted: HR systems give a person a new external id in that way. The one that this batch has deleted counts before
   * those that were deleted earlier, if it shares a key that colleagues do not share, and the one in which a double of it
   * has gone on before the double. Undefined when several core objects remain, when another live identity has the join key, or when another person carries the core
   * object, except beside the one that this batch has deleted.
   * @param taken Core objects that people have kept.
   */
  coreObjectBefore(
    person: readonly Identity[],
    returning: string | undefined,
    taken: ReadonlySet<string | undefined>,
  ): string | undefined {
    const written = person.find(({ id }) => id === returning)
    if (written === undefined) return undefined
    const all = this.#index.deletedLike(written)
    const isDeletedNow = ({ id }: Identity) => this.#deleted.has(id)
    const replaced = all.filter((each) => isDeletedNow(each) && this.#index.shareKeyOfOnePerson(each, written))
    const former = replaced.length > 0 ? replaced : withoutContinued(all)
    const coreObjectIds = new Set(former.map((identity) => identity.coreObjectId))
    const [coreObjectId] = coreObjectIds
    if (coreObjectId === undefined || coreObjectIds.size > 1 || taken.has(coreObjectId)) return undefined
    if (!former.some(isDeletedNow) && this.#carriers.besides(person, coreObjectId).length > 0) return undefined
    const likeIt = former.every((identity) => this.#index.onlyLiveLike(identity as ConnectorObject)?.id === written.id)
    return likeIt ? coreObjectId : undefined
  }

  /**
   * The core object of an older identity of the same connector that was deleted in one request while this one was created
   * in another. The creation has seen it live, and no other with its keys, so that this one was assigned to a core object
   * of its own, with a conflict over the join key that both had. Undefined when there are several such core objects, or
   * when other people carry it.
   * @param created As it is stored: a join key that it gets later is no sign that it has replaced anybody, nor is a
   *   conflict with others.
   * @param taken Core objects that people have kept.
   */
  coreObjectAtOnce(
    created: Identity,
    person: readonly Identity[],
    taken: ReadonlySet<string | undefined>,
  ): string | undefined {
    const { conflictKeys = [], createdBesideId } = created
    if (conflictKeys.length === 0 || created.coreObjectId !== this.#ids.ownCoreObjectId(created.id)) return undefined
    const former = this.#index
      .deletedLike(created, conflictKeys)
      .filter((deleted) => isReplacedAtOnce(deleted, created))
    if (!former.some(({ id }) => id === createdBesideId)) return undefined
    const [coreObjectId, ...others] = new Set(former.map((deleted) => deleted.coreObjectId))
    if (coreObjectId === undefined || others.length > 0 || taken.has(coreObjectId)) return undefined
    const likeIt = former.every((deleted) => this.#index.onlyLiveLike(deleted)?.id === created.id)
    return likeIt && this.#carriers.besides(person, coreObjectId).length === 0 ? coreObjectId : undefined
  }

  /** The ids of those who were one person with an identity that this batch has deleted and that this one replaces. */
  othersOf(written: WrittenIdentity): string[] {
    const replaced = this.#index.deletedLike(written).filter(({ id }) => this.#deleted.has(id))
    return replaced.flatMap(({ coreObjectId }) => this.#carriers.of(coreObjectId).map(({ id }) => id))
  }
}

const withoutContinued = (deleted: readonly Identity[]): Identity[] =>
  deleted.filter(({ continuedIn }) => !deleted.some((other) => other.coreObjectId === continuedIn))

/** Whether an identity was deleted at the time at which one that is younger was created. */
const isReplacedAtOnce = (deleted: Identity, created: Identity): boolean =>
  createdAtMs(deleted) < createdAtMs(created) &&
  Math.abs((deleted.deletedAtMs ?? 0) - createdAtMs(created)) <= LONGEST_WRITE_MS

export const createdAtMs = (identity: Identity): number => identity.createdAtMs ?? 0
