import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import {
  coreIdOf,
  countOutcome,
  expectStatus,
  isSettledPerson,
  type Organisation,
  REQUESTS_PATH,
} from './organisation.ts'
import { LEADER_COUNT, ninOf } from './source-items.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A leader names another one who decides in the leader's place, or no one any more. */
export async function changeDeputy(organisation: Organisation, random: Random): Promise<void> {
  const { model, callers, locks, times } = organisation
  const nin = ninOf(random.below(LEADER_COUNT))
  const deputyNin = ninOf(random.below(LEADER_COUNT))
  await locks.runAlone(async () => {
    const account = model.people.identities().get(nin)?.account
    const deputyId = await coreIdOf(organisation, deputyNin)
    const isCertain = [nin, deputyNin].every((each) => isSettledPerson(organisation, each))
    const isThere = model.people.identities().has(deputyNin)
    if (account === undefined || deputyId === undefined || deputyNin === nin || !isCertain || !isThere) return
    const options = { token: await callers.person(account), path: `${REQUESTS_PATH}/deputy` }
    if (model.deputies.has(nin) && random.percent(40)) {
      await expectStatus(organisation, { ...options, method: 'DELETE' }, 200)
      model.deputies.delete(nin)
      model.deputyEndsMs.delete(nin)
      return
    }
    const nowMs = times.now().earliestMs
    const endMs = nowMs + 170 * DAY_MS
    const [from, until] = [nowMs - DAY_MS, endMs].map((atMs) => new Date(atMs).toISOString())
    await expectStatus(organisation, { ...options, method: 'PUT', body: { deputyId, from, until } }, 200)
    model.deputies.set(nin, deputyNin)
    model.deputyEndsMs.set(nin, endMs)
    countOutcome(organisation, 'deputy named')
  })
}

/** At a quiet point: a deputy whose time is over represents no one any more. */
export function forgetEndedDeputies({ model, times }: Organisation): void {
  for (const [nin, endMs] of model.deputyEndsMs) {
    if (endMs > times.now().earliestMs) continue
    model.deputies.delete(nin)
    model.deputyEndsMs.delete(nin)
  }
}

/** After a quiet point: what a deputy decides whose time ends before the next one is not certain. */
export function noteEndingDeputies({ model, times, changedNins }: Organisation): void {
  for (const [nin, endMs] of model.deputyEndsMs) {
    if (endMs > times.now().latestMs + DAY_MS) continue
    for (const either of [nin, model.deputies.get(nin)]) if (either !== undefined) changedNins.add(either)
  }
}
