import { referencesOf } from './condition-model.ts'
import { managerPlaces, positionsOf } from './manager-model.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { ninOfExternalId } from './people-actions.ts'
import { referredId } from './people-model.ts'
import { unitKey } from './recent-changes.ts'
import type { ModelGate, RequestSubject } from './request-model.ts'

/** Everything on which it depends whether somebody is an approver at the gate: people, org units and collections. */
export function approverKeys(
  model: OrganisationModel,
  gate: ModelGate,
  subject: RequestSubject,
  approverNin: string,
): Set<string> {
  const keys = new Set([subject.nin, approverNin])
  switch (gate.type) {
    case 'Identity':
      return keys
    case 'Collection':
      return keys.union(membershipKeys(model, approverNin, gate.approvers))
    case 'Manager':
      return keys.union(managerKeys(model, subject))
  }
}

function managerKeys({ people }: OrganisationModel, { nin }: RequestSubject): Set<string> {
  const keys = new Set<string>()
  for (const positionId of positionsOf(people, nin).keys()) {
    for (const { unitId, managerId } of managerPlaces(people, positionId)) {
      if (unitId !== undefined) keys.add(unitKey(unitId))
      if (managerId !== '') keys.add(ninOfExternalId(managerId))
    }
  }
  return keys
}

/** Everything on which it depends whether a person is a member of the collections. */
function membershipKeys({ people, criteria }: OrganisationModel, nin: string, collectionIds: readonly string[]) {
  const keys = new Set(collectionIds)
  // Conditions refer to further collections.
  for (const id of keys) {
    const condition = criteria.get(id)?.condition
    for (const named of condition === undefined ? [] : referencesOf(condition)) keys.add(named)
  }
  for (const { orgUnit } of positionsOf(people, nin).values()) keys.add(unitKey(referredId(orgUnit)))
  return keys.add(nin)
}
