import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { countOutcome, expectStatus, type Organisation } from './organisation.ts'
import { pickOf } from './picks.ts'
import { ninOf, STAFF_COUNT } from './source-items.ts'

/** A member of staff, who has an address, changes when they get mails. */
export async function changeNotifications(organisation: Organisation, random: Random): Promise<void> {
  const { model, callers, locks, times } = organisation
  const nin = ninOf(random.below(STAFF_COUNT))
  await locks.run([nin], async () => {
    const account = model.people.identities().get(nin)?.account
    if (account === undefined) return
    const mail = pickOf(random, ['Immediately', 'Daily', 'Daily', 'None'] as const)
    const path = '/collections/beta/me/notifications'
    const options = { token: await callers.person(account), method: 'PUT', path, body: { mail } }
    const began = times.now()
    await expectStatus(organisation, options, 200)
    model.mailChoices.set(nin, { mail, set: times.since(began) })
    countOutcome(organisation, `mails ${mail}`)
  })
}
