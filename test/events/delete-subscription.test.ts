import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deleteSubscription } from '../../shared/domain/events/manage-subscriptions.ts'
import type { Subscription } from '../../shared/domain/events/subscription.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { revisionETag } from '../../shared/kernel/versioned.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const SUBSCRIPTION: Subscription = {
  ...{ id: 'one', url: 'https://example.com/', types: ['*'], description: null, disabledReason: null },
  ...{ state: 'Enabled', createdAt: '2030-01-01T00:00:00.000+00:00', createdBy: 'somebody' },
  ...{ secret: 'whsec_first', sinceMs: NOW_MS, revision: 3 },
}

/** A store where another person changes the subscription right after the first read. */
function storeWithConcurrentChange() {
  let stored: readonly Subscription[] = [SUBSCRIPTION]
  let version = 1
  return {
    stored: () => stored,
    subscriptions: {
      async read() {
        const read = { value: stored, version: String(version) }
        if (version === 1) {
          stored = [{ ...SUBSCRIPTION, description: 'Changed', revision: 4 }]
          version = 2
        }
        return read
      },
      async replace(_tenantId: string, all: readonly Subscription[], quoted: string) {
        if (quoted !== String(version)) throw new Refusal('StaleVersion')
        stored = all
        version += 1
      },
    },
    deliveries: { removeAll: async () => undefined },
  }
}

type Stores = Parameters<typeof deleteSubscription>[3]

it('A deletion with If-Match is refused when the subscription changes between its check and its write', async () => {
  const store = storeWithConcurrentChange()
  const deps = store as unknown as Stores
  const ifMatch = revisionETag(SUBSCRIPTION)
  await assert.rejects(deleteSubscription('tenant', 'one', ifMatch, deps), { code: 'PreconditionFailed' })
  assert.deepEqual(
    store.stored().map(({ description }) => description),
    ['Changed'],
  )
  await deleteSubscription('tenant', 'one', revisionETag({ ...SUBSCRIPTION, revision: 4 }), deps)
  assert.deepEqual(store.stored(), [])
})
