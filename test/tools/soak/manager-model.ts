import { type ObjectData, type PeopleModel, referredId } from './people-model.ts'
import type { RequestSubject } from './request-model.ts'

/** Where a manager is looked for: a position, or an org unit. */
type ManagerPlace = { readonly unitId: string | undefined; readonly managerId: string }

/** The positions of a person, by external id. */
export function positionsOf(people: PeopleModel, nin: string): Map<string, ObjectData> {
  const isHeld = ([, { identity }]: [string, ObjectData]) =>
    people.find('hr', 'identity', referredId(identity))?.nin === nin
  return new Map([...people.objects('hr', 'relationship')].filter(isHeld))
}

/** A position, its org unit, and the units above it. */
export function managerPlaces(people: PeopleModel, positionId: string): ManagerPlace[] {
  const position = people.find('hr', 'relationship', positionId)
  if (position === undefined) return []
  const places: ManagerPlace[] = [{ unitId: undefined, managerId: referredId(position.manager) }]
  let unitId = referredId(position.orgUnit)
  for (let unit = people.find('hr', 'orgUnit', unitId); unit !== undefined; ) {
    places.push({ unitId, managerId: referredId(unit.manager) })
    unitId = referredId(unit.parent)
    unit = people.find('hr', 'orgUnit', unitId)
  }
  return places
}

/** The positions whose managers decide on a request: its own, or those of a subject who asks for no position. */
export function positionsToManage(people: PeopleModel, { nin, position }: RequestSubject): readonly string[] {
  return position === undefined ? [...positionsOf(people, nin).keys()] : [position]
}

/**
 * The managers of a request, by national identity number: for each of its positions the first manager who is there and
 * is not the subject.
 */
export function managersOf(people: PeopleModel, subject: RequestSubject): Set<string> {
  const managers = positionsToManage(people, subject).map((id) =>
    managerPlaces(people, id)
      .map(({ managerId }) => people.find('hr', 'identity', managerId)?.nin as string | undefined)
      .find((nin) => nin !== undefined && nin !== subject.nin),
  )
  return new Set(managers.filter((nin) => nin !== undefined))
}
