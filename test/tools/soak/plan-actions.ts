import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import type { SoakCondition } from './condition-model.ts'
import { effectOf, involvesJoinables, type ModelEffect } from './effect-model.ts'
import {
  CRITERIA_PATH,
  countOutcome,
  differences,
  expectStatus,
  type Organisation,
  readWritten,
} from './organisation.ts'
import type { MemberKind } from './organisation-model.ts'
import { importItems } from './people-actions.ts'
import { deliveredPosition, unitItem } from './source-items.ts'

type Definition = { readonly objectType: MemberKind; readonly condition: SoakCondition }
export type PlanAnswer = {
  readonly planId: string
  readonly collections: readonly { readonly collectionId: string; readonly added: number; readonly removed: number }[]
  readonly links: readonly {
    readonly linkId: string
    readonly toAdd: number
    readonly toRemove: number
    readonly pausedRemovals: number
  }[]
  readonly requests: { readonly becomeEligible: number; readonly loseEligibility: number }
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

/**
 * Whether the effect of a condition is known now. What the guard holds, requests that follow changed people,
 * identities that are joined again and a new day change in the background.
 */
export function isEffectKnown(
  { model, changedNins, pendingChanges }: Organisation,
  id: string,
  condition: SoakCondition,
): boolean {
  if (pendingChanges.size > 0) return false
  const requests = [...model.joinable.values()].flatMap((collection) => collection.requests)
  const isInMotion = requests.some(({ nin }) => changedNins.has(nin))
  const canHold =
    model.isGuarded || [...model.links].some(([linkId, { isEnabled }]) => isEnabled && model.linksWithHolds.has(linkId))
  return !canHold && !(isInMotion && involvesJoinables(model, id, condition))
}

/**
 * Plans a condition, and saves it if its effect is still the planned one. Sometimes people change in between.
 * @returns Whether it was saved. @throws Error when that, or the planned effect, is not the expected one
 */
export async function saveAsPlanned(
  organisation: Organisation,
  id: string,
  body: Definition,
  random: Random,
): Promise<boolean> {
  const { model, callers } = organisation
  const path = `${CRITERIA_PATH}/${id}`
  const planned = effectOf(model, id, body.condition)
  const planning = { token: callers.writer, method: 'POST', path: `${path}/plan`, body }
  const { data: plan } = await expectStatus<PlanAnswer>(organisation, planning, 200)
  await requireCounts(organisation, plan, { id, ...body }, planned)
  const chance = random.below(100)
  if (chance < 50) await changeSomebody(organisation, random)
  const expected = isDeepStrictEqual(effectOf(model, id, body.condition), planned) ? 'saved' : 'PlanChanged'
  const isUnknown = chance >= 95
  const ifPlan = isUnknown ? `${plan.planId}x` : plan.planId
  const saving = { token: callers.writer, method: 'PUT', path, body, ifPlan }
  const reply = await expectStatus(organisation, saving, 200, 409)
  const result = reply.status === 200 ? 'saved' : (reply.errors[0]?.code ?? '')
  const isMoved = result === 'PlanChanged' && (await resumesOthers(organisation, plan, { id, ...body }))
  const isSaved = result === 'saved' || (reply.isRetry && (await isStored(organisation, path, body.condition)))
  if (!isMoved && (isSaved ? 'saved' : result) !== (isUnknown ? 'PlanExpired' : expected)) {
    throw new Error(`PUT ${path} as planned: ${result} ${JSON.stringify(reply.errors)}, not ${expected}`)
  }
  countOutcome(organisation, `If-Plan: ${isSaved ? 'saved' : result}`)
  return isSaved
}

/** Whether a plan made now resumes removals of other links. Syncs defer and make up for removals in the background. */
export async function resumesOthers(
  organisation: Organisation,
  plan: PlanAnswer,
  { id, objectType, condition }: Definition & { readonly id: string },
): Promise<boolean> {
  const { writer: token } = organisation.callers
  const planning = { token, method: 'POST', path: `${CRITERIA_PATH}/${id}/plan`, body: { objectType, condition } }
  const { data: later } = await expectStatus<PlanAnswer>(organisation, planning, 200)
  const resumedIn = ({ warnings }: PlanAnswer) =>
    warnings.flatMap(({ code, message }) => (code === 'RemovalsResumed' ? [message] : [])).toSorted()
  return !isDeepStrictEqual(resumedIn(later), resumedIn(plan))
}

/** Changes a position or an org unit: the effect of a condition can be another one then. */
export async function changeSomebody(organisation: Organisation, random: Random): Promise<void> {
  const person = random.below(organisation.personCount)
  const { model, names } = organisation
  const isThere = model.people.find('hr', 'relationship', names.of(`R${person}`)) !== undefined
  const items = random.percent(50) && isThere ? deliveredPosition(organisation, person, 'R', random) : []
  await importItems(organisation, 'hr', [
    ...items,
    unitItem(organisation, random.below(organisation.unitCount), random),
  ])
}

/** After an attempt without an answer, which can have saved it. */
async function isStored(organisation: Organisation, path: string, condition: SoakCondition): Promise<boolean> {
  const { condition: stored } = await readWritten<{ condition: unknown }>(organisation, path)
  return isDeepStrictEqual(stored, condition)
}

/** @throws Error with what the service and the model know of the members, when a plan is not the effect */
export async function requireCounts(
  organisation: Organisation,
  plan: PlanAnswer,
  definition: Definition & { readonly id: string },
  effect: ModelEffect,
): Promise<void> {
  const faults = countFaults(plan, definition.id, effect)
  if (faults.length === 0) return
  const { id, objectType, condition } = definition
  const previewing = {
    token: organisation.callers.writer,
    method: 'POST',
    path: `${CRITERIA_PATH}/preview`,
    body: { currentId: id, preview: { objectType, condition } },
  }
  const { data } = await expectStatus<Previewed>(organisation, previewing, 200)
  const namesIn = (members: Previewed['added']) => members.map(({ objectId, displayName }) => displayName ?? objectId)
  const known = {
    condition,
    planned: effect.collections.get(id),
    previewed: { added: namesIn(data.added), removed: namesIn(data.removed) },
  }
  throw new Error(`The plan of collection ${id}: ${faults.join('; ')}. ${JSON.stringify(known)}`)
}

type PreviewedMembers = readonly { readonly objectId: string; readonly displayName: string | null }[]
type Previewed = { readonly added: PreviewedMembers; readonly removed: PreviewedMembers }

function countFaults({ collections, links, requests }: PlanAnswer, id: string, effect: ModelEffect): string[] {
  const counted = (found: ModelEffect['collections']) =>
    new Map([...found].map(([key, { added, removed }]) => [key, [added.length, removed.length]]))
  const expected = new Map([[id, [0, 0]], ...counted(effect.collections)])
  return [
    ...differences(
      'Planned members of',
      expected,
      new Map(collections.map((c) => [c.collectionId, [c.added, c.removed]])),
    ),
    ...differences(
      'Planned accounts of',
      new Map(
        [...effect.links].map(([key, { added, removed, isPaused }]) => [
          key,
          [added.length, isPaused ? 0 : removed.length, isPaused ? removed.length : 0],
        ]),
      ),
      // Links that resume deferred removals can have no other change.
      new Map(
        links
          .filter((l) => l.toAdd + l.toRemove + l.pausedRemovals > 0)
          .map((l) => [l.linkId, [l.toAdd, l.toRemove, l.pausedRemovals]]),
      ),
    ),
    ...differences(
      'Planned',
      new Map([
        ['becomeEligible', new Set([...effect.becomeEligible.values()].flat()).size],
        ['loseEligibility', effect.loseEligibility.length],
      ]),
      new Map(Object.entries(requests)),
    ),
  ]
}
