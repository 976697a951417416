import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { managerKeys } from './gate-dependencies.ts'
import { managersOf, positionsOf } from './manager-model.ts'
import { coreIdOf, corePositionIdOf, type Organisation, pickSettled } from './organisation.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { referredId } from './people-model.ts'
import { pickOf } from './picks.ts'
import { LEADER_COUNT, ninOf } from './source-items.ts'
import {
  newSubmission,
  possibleResults,
  type SoakSubmission,
  sendSubmission,
  submissionKeys,
  usualSubject,
} from './submissions.ts'

/** Whom a manager names: a person, one of the person's positions, or both. */
type NamedReport = { readonly nin: string; readonly positionId: string; readonly form: 'person' | 'position' | 'both' }

/** A manager submits a request for a person they lead in a position, or tries to for another person. */
export async function submitOnBehalf(organisation: Organisation, random: Random): Promise<void> {
  const { model, locks, recentChanges, changedNins } = organisation
  const leaders = Array.from({ length: LEADER_COUNT }, (_, person) => ninOf(person))
  const managerNin = pickSettled(organisation, random, leaders, (nin) => nin)
  const report = pickReport(organisation, managerNin, random)
  if (report === undefined) return
  const { nin, positionId, form } = report
  const subject = form === 'person' ? usualSubject(model, nin) : { nin, position: positionId }
  const collectionId = pickOf(random, [...model.joinable.keys()])
  const submission = newSubmission(organisation, collectionId, subject, random)
  const keys = keysOf(model, submission, managerNin)
  await locks.run([...keys], async () => {
    const account = model.people.identities().get(managerNin)?.account
    if (account === undefined || changedNins.has(managerNin) || changedNins.has(nin)) return
    const isCertain = keysOf(model, submission, managerNin).isSubsetOf(keys) && recentChanges.isSettled(keys)
    if (!isCertain || !positionsOf(model.people, nin).has(positionId)) return
    const results = possibleResults(organisation, submission, keys)
    if (results === undefined) return
    const positions = form === 'person' ? [...positionsOf(model.people, nin).keys()] : [positionId]
    const isLed = positions.some((position) => managersOf(model.people, { nin, position }).has(managerNin))
    const body = {
      ...(form === 'position' ? {} : { requesterId: await coreIdOf(organisation, nin) }),
      ...(form === 'person' ? {} : { relationshipId: await corePositionIdOf(organisation, positionId) }),
    }
    await sendSubmission(
      organisation,
      submission,
      { account, submitterNin: managerNin, body },
      isLed ? results : ['NotManager'],
      random,
    )
  })
}

/** Mostly a position that the manager leads. */
function pickReport(organisation: Organisation, managerNin: string, random: Random): NamedReport | undefined {
  const { people } = organisation.model
  const positions = [...people.objects('hr', 'relationship')].flatMap(([positionId, { identity }]) => {
    const nin = people.find('hr', 'identity', referredId(identity))?.nin as string | undefined
    return nin === undefined ? [] : [{ nin, positionId }]
  })
  const led = positions.filter(({ nin, positionId }) =>
    managersOf(people, { nin, position: positionId }).has(managerNin),
  )
  const candidates = led.length > 0 && random.percent(70) ? led : positions
  if (candidates.length === 0) return undefined
  return {
    ...pickSettled(organisation, random, candidates, ({ nin }) => nin),
    form: pickOf(random, ['person', 'position', 'both'] as const),
  }
}

/** Everything on which the result depends, with the managers of all positions of the subject. */
function keysOf(model: OrganisationModel, submission: SoakSubmission, managerNin: string): Set<string> {
  const { nin } = submission.subject
  return submissionKeys(model, submission)
    .union(managerKeys(model, { nin, position: undefined }))
    .add(managerNin)
}
