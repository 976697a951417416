import { randomUUID } from 'node:crypto'
import type { AccountChanges, LinkedCollections } from '../../../shared/domain/group-links/collection-accounts.ts'

/** Collections of accounts, with the history of their members. */
export type TestCollections = LinkedCollections & {
  make(accounts: readonly string[], objectType?: string): string
  change(collectionId: string, accounts: readonly string[], withoutAccountCount?: number): void
  /** Changes the accounts of the same members, without a new version of the membership. */
  exchange(collectionId: string, accounts: readonly string[]): void
  remove(collectionId: string): void
  /** Drops the history before the current version. */
  forgetHistory(collectionId: string): void
  failing: boolean
  /** The circle that every new link would close. */
  circle: readonly string[] | undefined
}

type State = { accounts: ReadonlySet<string>; withoutAccountCount: number }
type Collection = { objectType: string; states: State[]; knownSince: number }

export function testCollections(): TestCollections {
  const all = new Map<string, Collection>()
  const latest = (id: string): { collection: Collection; state: State } => {
    const collection = all.get(id)
    const state = collection?.states.at(-1)
    if (collection === undefined || state === undefined) throw new Error(`There is no collection ${id}`)
    return { collection, state }
  }
  const collections: TestCollections = {
    failing: false,
    circle: undefined,
    findCircle: async () => collections.circle,
    make(accounts, objectType = 'Identity') {
      const id = randomUUID()
      all.set(id, { objectType, states: [{ accounts: new Set(accounts), withoutAccountCount: 0 }], knownSince: 0 })
      return id
    },
    change(id, accounts, withoutAccountCount = 0) {
      latest(id).collection.states.push({ accounts: new Set(accounts), withoutAccountCount })
    },
    exchange(id, accounts) {
      const { collection, state } = latest(id)
      collection.states.splice(-1, 1, { ...state, accounts: new Set(accounts) })
    },
    remove: (id) => void all.delete(id),
    forgetHistory(id) {
      const { collection } = latest(id)
      collection.knownSince = collection.states.length
    },
    async find(_tenantId, id) {
      if (collections.failing) throw new Error('The database is away')
      const collection = all.get(id)
      return collection && { kind: 'criteria', objectType: collection.objectType }
    },
    async confirmReference(_tenantId, id) {
      return all.has(id)
    },
    async versions(_tenantId, ids) {
      return new Map(ids.flatMap((id) => (all.has(id) ? [[id, latest(id).collection.states.length] as const] : [])))
    },
    currentVersion: async (_tenantId, id) => all.get(id)?.states.length,
    newestChange: async () => null,
    removalCauses: async () => ({ newest: null, actorIds: [], explainsAll: true, definedBy: null }),
    hasDefinedSince: async () => false,
    versionsWrittenSince: (tenantId, kinds) => collections.versions(tenantId, [...kinds.keys()]),
    async findAccounts(tenantId, id) {
      const found = await collections.find(tenantId, id)
      return found && collections.accountsOf(tenantId, id)
    },
    async accountsOf(_tenantId, id) {
      const { collection, state } = latest(id)
      return { ...state, membershipVersion: collection.states.length, isCurrent: true }
    },
    async changesSince({ collectionId: id }, version): Promise<AccountChanges | undefined> {
      const { collection, state } = latest(id)
      const states = collection.states.slice(version - 1)
      if (states.length === 0 || version < collection.knownSince) return undefined
      const touched = new Set(
        states.flatMap(({ accounts }, index) => [
          ...accounts.symmetricDifference(states[index - 1]?.accounts ?? accounts),
        ]),
      )
      return {
        added: [...touched.intersection(state.accounts)],
        removed: [...touched.difference(state.accounts)],
        withoutAccountCount: state.withoutAccountCount,
        accountCount: state.accounts.size,
        membershipVersion: collection.states.length,
      }
    },
  }
  return collections
}
