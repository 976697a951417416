/** How many members collections have, as it is stored beside the members. */
export interface MemberCounts {
  /**
   * The numbers of a criteria collection as last evaluated, and of a joinable one as of now. One query for each kind,
   * for any number of collections. Left out are criteria collections that were never evaluated, and joinable ones that never
   * had a member; null: not counted yet, because a former version of the service has written the members.
   * @param collectionIds Only of these; of all collections of the tenant when left out.
   */
  of(tenantId: string, collectionIds?: readonly string[]): Promise<ReadonlyMap<string, number | null>>
}
