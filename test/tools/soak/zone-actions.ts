import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { dayIn, TIME_ZONES } from './day-model.ts'
import { apply, countOutcome, expectStatus, LINKS_PATH, type Organisation } from './organisation.ts'
import { pickOf } from './picks.ts'

/** Gives the tenant another time zone: it can be another day there. */
export async function changeTimeZone(organisation: Organisation, random: Random): Promise<void> {
  const { callers, model, pendingChanges, recentChanges, times } = organisation
  const timeZone = pickOf(random, TIME_ZONES)
  await organisation.locks.runAlone(async () => {
    const now = times.now()
    const day = dayIn(timeZone, now.earliestMs)
    // A new day would begin before the next quiet point.
    if (dayIn(timeZone, now.latestMs + DAY_LASTS_MS) !== day) return
    const options = {
      token: callers.administrator,
      method: 'PATCH',
      path: `${LINKS_PATH}/settings`,
      body: { timeZone },
    }
    await expectStatus(organisation, options, 200)
    countOutcome(organisation, day === model.today ? 'time zone: same day' : 'time zone: another day')
    if (day !== model.today) pendingChanges.add('day')
    recentChanges.note(...model.criteria.keys())
    apply(organisation, () => {
      model.timeZone = timeZone
      model.today = day
    })
  })
}

/** Longer than a phase between two quiet points. */
export const DAY_LASTS_MS = 30 * 60_000
