import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { referencesOf, type SoakCondition, type SoakLeaf } from './condition-model.ts'
import { apply, CRITERIA_PATH, expectStatus, LINKS_PATH, type Organisation } from './organisation.ts'
import type { MemberKind } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { isEffectKnown, saveAsPlanned } from './plan-actions.ts'
import { COUNTRIES, TITLES, UNIT_TYPES } from './source-items.ts'

function randomLeaf(random: Random, referable: readonly string[]): SoakLeaf {
  const leaf = (id: string, operator: string, value: SoakLeaf['value']) => ({ id, field: id, operator, value })
  const chance = random.below(100)
  if (chance < 30) return leaf('relationshipTitle', 'Equals', pickOf(random, TITLES))
  if (chance < 45) return leaf('relationshipTitle', 'In', [pickOf(random, TITLES), pickOf(random, TITLES)])
  if (chance < 52) {
    const operator = pickOf(random, ['LessThan', 'GreaterThanOrEqual'])
    return leaf('relationshipStartDate', operator, 'Today()')
  }
  if (chance < 60) return leaf('orgUnitType', 'Equals', pickOf(random, UNIT_TYPES))
  if (chance < 70) return leaf('orgUnitDisplayName', 'StartsWith', pickOf(random, UNIT_TYPES))
  if (chance < 80) return leaf('identityCountryCode', 'NotEquals', pickOf(random, COUNTRIES))
  if (chance < 88 || referable.length === 0) return leaf('identityCountryCode', 'Equals', pickOf(random, COUNTRIES))
  return leaf('memberOfCollection', random.percent(70) ? 'Equals' : 'NotEquals', pickOf(random, referable))
}

/** @param referable collections that the condition can refer to */
export function randomCondition(random: Random, referable: readonly string[], depth = 0): SoakCondition {
  if (depth > 0 && random.percent(depth === 1 ? 60 : 100)) return randomLeaf(random, referable)
  const groupOperator = pickOf(random, ['AND', 'AND', 'OR', 'OR', 'NOT', 'XOR'])
  const count = 1 + random.below(3)
  const conditions = Array.from({ length: count }, () => randomCondition(random, referable, depth + 1))
  return { groupOperator, conditions }
}

/** The collections before one, in order of creation, so that no condition refers to itself. */
function referableBefore({ model }: Organisation, collectionId: string | undefined): string[] {
  const ids = [...model.criteria.keys()]
  return [...model.joinable.keys(), ...(collectionId === undefined ? ids : ids.slice(0, ids.indexOf(collectionId)))]
}

export async function createCriteriaCollection(organisation: Organisation, random: Random): Promise<void> {
  const objectType: MemberKind = random.percent(50) ? 'Identity' : 'Relationship'
  await organisation.locks.runAlone(async () => {
    const condition = randomCondition(random, referableBefore(organisation, undefined))
    const name = organisation.unique('Collection')
    const { data: id } = await expectStatus<string>(
      organisation,
      {
        token: organisation.callers.writer,
        method: 'POST',
        path: CRITERIA_PATH,
        body: { objectType, name, condition },
        idempotencyKey: name,
      },
      201,
    )
    apply(organisation, () => organisation.model.criteria.set(id, { objectType, condition }))
  })
}

export async function editCondition(organisation: Organisation, random: Random): Promise<void> {
  const id = pickOf(random, [...organisation.model.criteria.keys()])
  await organisation.locks.runAlone(async () => {
    const collection = organisation.model.criteria.get(id)
    if (collection === undefined) return
    const condition = randomCondition(random, referableBefore(organisation, id))
    const body = { objectType: collection.objectType, condition }
    if (isEffectKnown(organisation, id, condition) && random.percent(60)) {
      if (!(await saveAsPlanned(organisation, id, body, random))) return
    } else {
      const options = { token: organisation.callers.writer, method: 'PUT', path: `${CRITERIA_PATH}/${id}`, body }
      await expectStatus(organisation, options, 200)
    }
    apply(organisation, () => {
      collection.condition = condition
    })
    organisation.recentChanges.note(id)
  })
}

/** Links a collection to a group without a link. */
export async function createLink(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const { model, tenant, callers } = organisation
    const linked = new Set([...model.links.values()].map(({ groupId }) => groupId))
    const free = tenant.groupIds.filter((groupId) => !linked.has(groupId))
    if (free.length === 0) return
    const groupId = pickOf(random, free)
    const collectionId = pickOf(random, [...model.criteria.keys(), ...model.joinable.keys()])
    const { data: linkId } = await expectStatus<string>(
      organisation,
      {
        token: callers.writer,
        method: 'POST',
        path: `${LINKS_PATH}/group-links`,
        body: { collectionId, directoryGroupId: groupId },
        idempotencyKey: organisation.unique('link'),
      },
      201,
    )
    apply(organisation, () => model.links.set(linkId, { collectionId, groupId, isEnabled: true }))
  })
}

/** Deletes a criteria collection that nothing refers to, and creates another. */
export async function replaceCriteriaCollection(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const { criteria, joinable, links } = organisation.model
    const inUse = new Set([
      ...[...links.values()].map(({ collectionId }) => collectionId),
      ...[...criteria.values()].flatMap(({ condition }) => referencesOf(condition)),
      ...[...joinable.values()].flatMap(({ policy: { approvalGates, joinableBy } }) => [
        ...approvalGates.flatMap(({ approvers, fallback }) => [...approvers, ...(fallback?.approvers ?? [])]),
        ...joinableBy,
      ]),
    ])
    const free = [...criteria.keys()].filter((id) => !inUse.has(id))
    if (free.length === 0) return
    const id = pickOf(random, free)
    const options = { token: organisation.callers.writer, method: 'DELETE', path: `${CRITERIA_PATH}/${id}` }
    const reply = await expectStatus(organisation, options, 200, 404)
    if (reply.status === 404 && !reply.isRetry) throw new Error(`Collection ${id} is not there`)
    organisation.formerCollectionIds.add(id)
    apply(organisation, () => criteria.delete(id))
  })
  await createCriteriaCollection(organisation, random)
}

/** Turns the removal guard on, with a low limit, or off. */
export async function switchGuard(organisation: Organisation): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const { model, callers } = organisation
    const enabled = !model.isGuarded
    const body = { removalGuard: { enabled, percent: 20, minimum: 2 } }
    const options = { token: callers.administrator, method: 'PATCH', path: `${LINKS_PATH}/settings`, body }
    await expectStatus(organisation, options, 200)
    model.isGuarded = enabled
    for (const linkId of model.links.keys()) model.linksWithHolds.add(linkId)
  })
}

/** Approves what the guard holds on a link, if anything. */
export async function approveRemovals(organisation: Organisation, random: Random): Promise<void> {
  const linkIds = [...organisation.model.links.keys()]
  if (linkIds.length === 0) return
  const linkId = pickOf(random, linkIds)
  const path = `${LINKS_PATH}/group-links/${linkId}/removal-plan`
  const { administrator: token } = organisation.callers
  const plan = await expectStatus<{ planId: string }>(organisation, { token, method: 'GET', path }, 200, 404)
  if (plan.status === 404) return
  const approval = { token, method: 'POST', path: `${path}/${plan.data.planId}/approve`, body: {} }
  // The plan can have changed meanwhile, and the link can be disabled or deleted.
  await expectStatus(organisation, approval, 202, 404, 409)
}

/** Deletes, disables or enables a link, or asks for a sync. */
export async function changeLink(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const { model, callers } = organisation
    if (model.links.size === 0) return
    const [linkId, link] = pickOf(random, [...model.links])
    const path = `${LINKS_PATH}/group-links/${linkId}`
    const { writer: token } = callers
    const chance = random.below(100)
    if (chance < 15) {
      const reply = await expectStatus(organisation, { token, method: 'DELETE', path }, 200, 404)
      if (reply.status === 404 && !reply.isRetry) throw new Error(`Link ${linkId} is not there`)
      apply(organisation, () => model.links.delete(linkId))
      return
    }
    if (chance < 45) {
      const state = link.isEnabled ? 'Disabled' : 'Enabled'
      await expectStatus(organisation, { token, method: 'PATCH', path, body: { state } }, 200)
      apply(organisation, () => {
        link.isEnabled = !link.isEnabled
      })
      return
    }
    const syncPath = `${LINKS_PATH}/group-links/${link.collectionId}/sync`
    await expectStatus(organisation, { token, method: 'POST', path: syncPath }, 202, 409)
  })
}
