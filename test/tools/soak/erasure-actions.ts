import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { apply, countOutcome, expectStatus, type Organisation } from './organisation.ts'
import { pickOf } from './picks.ts'
import { eraseNotesOf } from './request-model.ts'
import { hasCard, isLeader, ninOf } from './source-items.ts'

/** Erases the data of a person who has left. What the person is called is not known any more, the id stays. */
export async function erasePerson(organisation: Organisation, random: Random): Promise<void> {
  const { model, coreIds, personCount, locks, callers } = organisation
  const present = model.people.identities()
  const gone = Array.from({ length: personCount }, (_, person) => person).filter(
    (person) =>
      !isLeader(ninOf(person)) && !hasCard(person) && !present.has(ninOf(person)) && coreIds.has(ninOf(person)),
  )
  if (gone.length === 0) return
  const nin = ninOf(pickOf(random, gone))
  await locks.run([nin], async () => {
    if (model.people.identities().has(nin)) return
    const path = `/iamcore/beta/sync/coreobjects/identities/${coreIds.get(nin)}/personal-data`
    await expectStatus(organisation, { token: callers.coreAdministrator, method: 'DELETE', path }, 200)
    organisation.erasedNins.add(nin)
    apply(organisation, () => {
      for (const { requests } of model.joinable.values()) eraseNotesOf(nin, requests)
    })
    countOutcome(organisation, 'erased')
  })
}
