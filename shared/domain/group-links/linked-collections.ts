/** The directory accounts that stand behind a collection's members. Each account once, in lower case. */
export type CollectionAccounts = {
  readonly accounts: ReadonlySet<string>
  /** Members without an account. While there are any, nothing may be removed from a group. */
  readonly withoutAccountCount: number
  /** Rises with every change of the membership. */
  readonly membershipVersion: number
}

/**
 * What has changed since an earlier version, netted: nobody is in both lists. Who left and came back is among the added:
 * a write that nobody has noted may have taken them out in between.
 */
export type AccountChanges = {
  readonly added: readonly string[]
  /** Only accounts that no remaining member stands behind. */
  readonly removed: readonly string[]
  readonly withoutAccountCount: number
  /** The version that these changes lead to: later ones are not among them, even if they were made while these were read. */
  readonly membershipVersion: number
}

/** What links need to know of collections. */
export interface LinkedCollections {
  /** Undefined when there is no such collection. */
  find(tenantId: string, collectionId: string): Promise<{ objectType: string; name: string } | undefined>
  /**
   * To be asked once a link is written: a deletion that saw no link before then finds itself overtaken, and one that
   * was faster is told here. @returns Whether the collection is still there.
   */
  keepForLink(tenantId: string, collectionId: string): Promise<boolean>
  /** The accounts as of now; a collection that was never evaluated is evaluated first. */
  accountsOf(tenantId: string, collectionId: string): Promise<CollectionAccounts>
  /** Undefined when the history does not reach back to that version: then only a whole comparison tells. */
  changesSince(tenantId: string, collectionId: string, membershipVersion: number): Promise<AccountChanges | undefined>
}
