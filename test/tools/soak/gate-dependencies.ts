import { referencesOf } from './condition-model.ts'
import { managerPlaces, positionsOf, positionsToManage } from './manager-model.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { referredId } from './people-model.ts'
import { unitKey } from './recent-changes.ts'
import type { ModelGate, RequestSubject } from './request-model.ts'
import { ninOfExternalId } from './source-items.ts'

/** Everything on which it depends whether a person is an approver at the gate: people, org units and collections. */
export function approverKeys(
  model: OrganisationModel,
  gate: ModelGate,
  subject: RequestSubject,
  approverNin: string,
): Set<string> {
  const keys = new Set([subject.nin, approverNin]).union(
    gate.fallback?.type === 'Collection'
      ? membershipKeys(model, approverNin, gate.fallback.approvers)
      : new Set<string>(),
  )
  switch (gate.type) {
    case 'Identity':
      return keys
    case 'Collection':
      return keys.union(membershipKeys(model, approverNin, gate.approvers))
    case 'Manager':
      return keys.union(managerKeys(model, subject))
  }
}

/** Everything on which it depends who manages a person in a position, or in any. */
export function managerKeys({ people }: OrganisationModel, subject: RequestSubject): Set<string> {
  const keys = new Set<string>([subject.nin])
  for (const positionId of positionsToManage(people, subject)) {
    for (const { unitId, managerId } of managerPlaces(people, positionId)) {
      if (unitId !== undefined) keys.add(unitKey(unitId))
      if (managerId !== '') keys.add(ninOfExternalId(managerId))
    }
  }
  return keys
}

/** Everything on which it depends whether a person is a member of the collections. */
export function membershipKeys(
  { people, criteria }: OrganisationModel,
  nin: string,
  collectionIds: readonly string[],
): Set<string> {
  const keys = new Set(collectionIds)
  // Conditions refer to further collections.
  for (const id of keys) {
    const condition = criteria.get(id)?.condition
    for (const named of condition === undefined ? [] : referencesOf(condition)) keys.add(named)
  }
  for (const { orgUnit } of positionsOf(people, nin).values()) keys.add(unitKey(referredId(orgUnit)))
  return keys.add(nin)
}
