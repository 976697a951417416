import type { JoinableFixture } from '../joinable-fixture.ts'
import type { Provocation } from './provocation.ts'

const SUBSCRIPTIONS = '/collections/beta/event-subscriptions'

/** Refusals of event subscriptions. */
export function eventProvocations({ call, admin }: JoinableFixture) {
  return {
    SubscriptionNotFound: () => call(admin, 'GET', `${SUBSCRIPTIONS}/eeeeeeee-0000-4000-8000-000000000001`),
    async SubscriptionDisabled() {
      const body = { url: 'https://example.com/', types: ['*'] }
      const { data } = await call<{ id: string }>(admin, 'POST', SUBSCRIPTIONS, body)
      await call(admin, 'PUT', `${SUBSCRIPTIONS}/${data.id}`, { state: 'Disabled' })
      return call(admin, 'POST', `${SUBSCRIPTIONS}/${data.id}/test`)
    },
  } satisfies Record<string, Provocation>
}
