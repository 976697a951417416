import type { LinkedCollections } from '../../shared/domain/links/linked-collections.ts'

/** What links read of collections. Until collections are composed here, there are none. */
export const linkedCollections: LinkedCollections = {
  find: async () => undefined,
  accountsOf: async () => ({ accounts: new Set(), withoutAccountCount: 0, membershipVersion: 0 }),
  changesSince: async () => undefined,
}
