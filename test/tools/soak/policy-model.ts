import { managersOf } from './manager-model.ts'
import type { ModelMembers, OrganisationModel } from './organisation-model.ts'
import { referredId } from './people-model.ts'
import type { ModelGate, ModelPolicy, RequestSubject } from './request-model.ts'

/** The approvers at a gate for a request, by national identity number, also the subject. */
export function approversAt(
  model: OrganisationModel,
  gate: ModelGate,
  subject: RequestSubject,
  members: ModelMembers = model.members(),
): Set<string> {
  const own = ownApproversAt(model, gate, subject, members)
  const { fallback } = gate
  const isNobody = own.difference(new Set([subject.nin])).size === 0
  return fallback !== undefined && isNobody ? own.union(ownApproversAt(model, fallback, subject, members)) : own
}

/** Those whom an approver among these represents as a deputy. */
export function representedBy({ deputies }: OrganisationModel, nin: string, approvers: ReadonlySet<string>): string[] {
  return [...deputies].flatMap(([represented, deputy]) =>
    deputy === nin && approvers.has(represented) ? [represented] : [],
  )
}

function ownApproversAt(
  model: OrganisationModel,
  gate: Pick<ModelGate, 'type' | 'approvers'>,
  subject: RequestSubject,
  members: ModelMembers,
): Set<string> {
  switch (gate.type) {
    case 'Identity':
      return new Set(gate.approvers)
    case 'Collection':
      return new Set(gate.approvers.flatMap((id) => [...identitiesIn(model, id, members)]))
    case 'Manager':
      return managersOf(model.people, subject)
  }
}

/** Whether a policy allows a person to join. */
export function isEligible(
  model: OrganisationModel,
  { joinableBy }: ModelPolicy,
  nin: string,
  members: ModelMembers = model.members(),
): boolean {
  return joinableBy.length === 0 || joinableBy.some((id) => identitiesIn(model, id, members).has(nin))
}

/** The identities in a collection of either kind: the members, or the holders of positions that are members. */
function identitiesIn({ people, criteria }: OrganisationModel, id: string, members: ModelMembers): Set<string> {
  const found = members.get(id) ?? new Set()
  if (criteria.get(id)?.objectType !== 'Relationship') return new Set(found)
  const holders = [...found].map((position) => {
    const holder = referredId(people.find('hr', 'relationship', position)?.identity)
    return people.find('hr', 'identity', holder)?.nin as string | undefined
  })
  return new Set(holders.filter((nin) => nin !== undefined))
}
