import { type ObjectData, type PeopleModel, referredId } from './people-model.ts'

/** Where a manager is looked for: a position, or an org unit. */
type ManagerPlace = { readonly unitId: string | undefined; readonly managerId: string }

/** The positions of a person, by external id. */
export function positionsOf(people: PeopleModel, nin: string): Map<string, ObjectData> {
  const isHeld = ([, { identity }]: [string, ObjectData]) =>
    people.find('hr', 'identity', referredId(identity))?.nin === nin
  return new Map([...people.objects('hr', 'relationship')].filter(isHeld))
}

/** A position, its org unit, and the units above it: decisions, section 7. */
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

/**
 * The managers of a request for no position, by national identity number: for each position of the subject the first
 * manager who is there and is not the subject.
 */
export function managersOf(people: PeopleModel, subjectNin: string): Set<string> {
  const managers = [...positionsOf(people, subjectNin).keys()].map((id) =>
    managerPlaces(people, id)
      .map(({ managerId }) => people.find('hr', 'identity', managerId)?.nin as string | undefined)
      .find((nin) => nin !== undefined && nin !== subjectNin),
  )
  return new Set(managers.filter((nin) => nin !== undefined))
}
