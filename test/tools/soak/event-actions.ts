import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { expectStatus, type Organisation } from './organisation.ts'

const SUBSCRIPTIONS_PATH = '/collections/beta/event-subscriptions'

/** Subscribes to all events. */
export async function subscribe({
  api,
  callers,
  receiver,
}: Pick<Organisation, 'api' | 'callers' | 'receiver'>): Promise<string> {
  const body = { url: receiver.url, types: ['*'] }
  const options = { token: callers.writer, method: 'POST', path: SUBSCRIPTIONS_PATH, body }
  const { data } = await expectStatus<{ id: string; secret: string }>({ api }, options, 201)
  receiver.secrets.push(data.secret)
  return data.id
}

/** Asks for another secret, or for some of the last events again. */
export async function actOnSubscription(organisation: Organisation, random: Random): Promise<void> {
  const { callers, receiver, subscriptionId } = organisation
  const path = `${SUBSCRIPTIONS_PATH}/${subscriptionId}`
  const { writer: token } = callers
  if (random.percent(50)) {
    const options = { token, method: 'POST', path: `${path}/rotate-secret`, body: {} }
    const { data } = await expectStatus<{ secret: string }>(organisation, options, 200)
    receiver.secrets.push(data.secret)
    return
  }
  const eventIds = [...receiver.events.keys()].slice(-10)
  if (eventIds.length === 0) return
  await expectStatus(organisation, { token, method: 'POST', path: `${path}/redeliver`, body: { eventIds } }, 200, 202)
}
