import type { ConnectorObject } from './connector-object.ts'
import type { Identity, IdentityIndex } from './identity-index.ts'

export type CoreObjectIds = {
  /** Returns the core object of an identity that joins no other. */
  ownCoreObjectId(connectorObjectId: string): string
  newId(): string
}

/** The core objects of identities that belong to one person alone, and what decisions so far have changed about them. */
export class OwnCoreObjects {
  readonly #index: IdentityIndex
  readonly #ids: CoreObjectIds
  /** The core objects that belonged to one identity alone before the first decision, by its id. */
  readonly #before = new Map<string, string>()
  /** Core objects to which decisions so far have moved identities: what these bring along is on its way there. */
  readonly #entered = new Set<string>()
  /** Identities that decisions so far have moved from the core object that is derived from their id. */
  readonly #left = new Set<string>()

  /** @param identities Those in the index before the first decision. */
  constructor(identities: Iterable<ConnectorObject>, index: IdentityIndex, ids: CoreObjectIds) {
    this.#index = index
    this.#ids = ids
    for (const { id, coreObjectId } of identities) {
      if (index.claiming(coreObjectId).length === 1) this.#before.set(id, coreObjectId)
    }
  }

  /** Records that identities move to a core object. */
  record(moving: readonly Identity[], coreObjectId: string): void {
    for (const { id, coreObjectId: left } of moving) if (left === this.#ids.ownCoreObjectId(id)) this.#left.add(id)
    if (moving.length > 0) this.#entered.add(coreObjectId)
  }

  /**
   * Returns the core object that the identity alone had before the first decision, unless others have come to it. Else
   * returns the core object derived from the identity's id, or a new one when another identity claims that, or may have
   * had it under this name, or when the identity has left it: others may have gone on with it, and their memberships can
   * still be on their way to where they are now.
   */
  of({ id, formerIds, formerCoreObjectIds }: Identity): string {
    const before = this.#before.get(id)
    const isFree = before !== undefined && !this.#entered.has(before) && this.#index.claiming(before).length === 0
    if (isFree) return before
    const own = this.#ids.ownCoreObjectId(id)
    const isLeft = this.#left.has(id) || formerCoreObjectIds?.includes(own)
    return formerIds === undefined && !isLeft && this.#index.claiming(own).length === 0 ? own : this.#ids.newId()
  }
}
