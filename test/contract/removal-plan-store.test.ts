import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { LocalCosmos } from '../../infra/local/cosmos/cosmos-server.ts'
import { cosmosRemovalPlanStore } from '../../shared/cosmos/links/removal-plan-store.ts'
import type { RemovalPlanStore } from '../../shared/domain/group-links/removal-plan.ts'
import { startLocalAccount } from '../support/contract/local-database.ts'
import { users } from '../support/jobs/link-directory.ts'

describe('The store of removal plans', () => {
  let cosmos: LocalCosmos
  let store: RemovalPlanStore
  let otherStore: RemovalPlanStore
  before(async () => {
    const account = await startLocalAccount()
    cosmos = account.cosmos
    store = cosmosRemovalPlanStore(account.container('removalPlans'))
    otherStore = cosmosRemovalPlanStore(account.container('removalPlans'))
  })
  after(() => cosmos.close())

  const newPlan = () => ({ tenantId: randomUUID(), planId: randomUUID() })

  it('returns the accounts in ascending order, in pages of any size', async () => {
    const plan = newPlan()
    const accounts = users(0, 4_500)
    await store.save(plan, accounts)
    await store.save(plan, accounts)
    assert.deepEqual(await store.accountsOf(plan), new Set(accounts))
    for (const size of [700, 2_000, 4_500, 5_000]) {
      const found: string[] = []
      let after: string | undefined
      do {
        const page = await store.page(plan, after, size)
        assert.ok(page.items.length <= size)
        found.push(...page.items)
        after = page.continueAfter
      } while (after !== undefined)
      assert.deepEqual(found, accounts, String(size))
    }
  })

  it('has a plan once that several instances save at the same time', async () => {
    const plan = newPlan()
    const accounts = users(0, 4_500)
    const instances = [store, otherStore]
    await Promise.all(instances.map((instance) => instance.save(plan, accounts)))
    for (const instance of instances) {
      assert.deepEqual((await instance.page(plan, undefined, 5_000)).items, accounts)
    }
  })

  it('keeps plans and tenants apart, and has no accounts for an unknown plan', async () => {
    const [first, second] = [newPlan(), newPlan()]
    await store.save(first, users(0, 2))
    await store.save(second, users(5, 2))
    assert.deepEqual(await store.accountsOf(first), new Set(users(0, 2)))
    const foreign = { ...first, tenantId: second.tenantId }
    assert.deepEqual(await store.page(foreign, undefined, 10), { items: [] })
    assert.deepEqual(await store.accountsOf(foreign), new Set())
  })
})
