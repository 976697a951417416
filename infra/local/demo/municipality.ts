import type { ObjectType } from '../../../shared/domain/core/core-object.ts'
import { type NewPerson, personData, uniqueNames } from './person.ts'
import { derivedGuid, seededRandom } from './seeded-random.ts'
import { DEPARTMENTS, type DepartmentWords, MUNICIPALITIES, PLACES } from './vocabulary.ts'

/** An object as a connector sends it. References are `{ externalId }`. */
export type ConnectorObject = {
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data: Readonly<Record<string, unknown>>
}

export type Municipality = {
  readonly tenantId: string
  readonly name: string
  readonly domain: string
  readonly orgUnits: readonly ConnectorObject[]
  readonly identities: readonly ConnectorObject[]
  readonly relationships: readonly ConnectorObject[]
}

type MunicipalityOptions = {
  /** 1 or 2. */
  readonly tenantNumber: number
  readonly identityCount: number
  readonly seed: string
}

/** Root of the org tree of each municipality. */
export const ROOT_UNIT = 'unit-municipality'

/** Approximate number of people per unit. */
const PEOPLE_PER_UNIT = 25
/** Percentage of people with a second position. */
const SECOND_POSITION_PERCENT = 10
const FULL_TIME_PERCENT = 80

export const reference = (externalId: string) => ({ externalId })

/** Generates a fictional municipality that depends only on the options. Without people it has only its root unit. */
export function municipality({ tenantNumber, identityCount, seed }: MunicipalityOptions): Municipality {
  const words = MUNICIPALITIES[tenantNumber - 1]
  if (words === undefined) throw new RangeError(`Unknown municipality ${tenantNumber}`)
  const units = workplaces(identityCount)
  const names = uniqueNames()
  const people = Array.from({ length: identityCount }, (_, index) => {
    const random = seededRandom(seed, tenantNumber, 'person', index)
    return { index, random, home: workplaceAt(units, index) } satisfies NewPerson & { home: Workplace }
  })
  return {
    tenantId: derivedGuid(seed, tenantNumber, 'tenant'),
    ...words,
    identities: people.map((person) => ({
      objectType: 'identity' as const,
      externalId: personExternalId(person.index),
      data: personData(person, { seed, tenantNumber, domain: words.domain, name: names.take(person.random) }),
    })),
    relationships: people.flatMap((person) => positionsOf(person, units)),
    orgUnits: orgUnits(words.name, words.domain, units, identityCount),
  }
}

const personExternalId = (index: number): string => `person-${String(index + 1).padStart(6, '0')}`

/** The lowest level of the org tree, which has people. */
type Workplace = {
  readonly externalId: string
  readonly name: string
  readonly department: DepartmentWords
  /** Manager of the unit: its first person. */
  readonly leaderIndex: number
}

function workplaces(identityCount: number): Workplace[] {
  if (identityCount === 0) return []
  const count = Math.min(identityCount, Math.max(DEPARTMENTS.length, Math.round(identityCount / PEOPLE_PER_UNIT)))
  return Array.from({ length: count }, (_, index) => {
    const department = DEPARTMENTS[index % DEPARTMENTS.length] ?? DEPARTMENTS[0]
    const turn = Math.floor(index / DEPARTMENTS.length)
    const place = PLACES[turn % PLACES.length] ?? PLACES[0]
    const again = Math.floor(turn / PLACES.length)
    return {
      externalId: `unit-${String(index + 1).padStart(4, '0')}`,
      name: `${place} ${department.unit}${again === 0 ? '' : ` ${again + 1}`}`,
      department,
      leaderIndex: index,
    }
  })
}

function workplaceAt(units: readonly Workplace[], index: number): Workplace {
  const unit = units[index % units.length]
  if (unit === undefined) throw new RangeError('The municipality has no workplace')
  return unit
}

const departmentExternalId = ({ name }: DepartmentWords): string => `unit-${name.toLowerCase().replaceAll(' ', '-')}`

function orgUnits(name: string, domain: string, units: readonly Workplace[], identityCount: number): ConnectorObject[] {
  const unit = (externalId: string, data: Record<string, unknown>): ConnectorObject => ({
    objectType: 'orgUnit',
    externalId,
    data,
  })
  const root = { displayName: `${name} Municipality`, email: `post@${domain}`, type: 'Municipality' }
  const leader = (index: number) => (identityCount > index ? { manager: reference(personExternalId(index)) } : {})
  const departments = DEPARTMENTS.slice(0, units.length)
  return [
    unit(ROOT_UNIT, { ...root, ...leader(0) }),
    ...departments.map((department, index) =>
      unit(departmentExternalId(department), {
        displayName: department.name,
        type: 'Department',
        parent: reference(ROOT_UNIT),
        // The manager of its second unit. Small departments have only one unit.
        ...leader(index + DEPARTMENTS.length < units.length ? index + DEPARTMENTS.length : index),
      }),
    ),
    ...units.map(({ externalId, name: displayName, department, leaderIndex }, index) => {
      const deputyIndex = leaderIndex + units.length
      return unit(externalId, {
        displayName,
        email: `${externalId}@${domain}`,
        type: 'Unit',
        subType: department.unitSubType,
        parent: reference(departmentExternalId(department)),
        ...leader(leaderIndex),
        ...(index % 3 === 0 && deputyIndex < identityCount
          ? { deputies: [reference(personExternalId(deputyIndex))] }
          : {}),
      })
    }),
  ]
}

function positionsOf(person: NewPerson & { home: Workplace }, units: readonly Workplace[]): ConnectorObject[] {
  const first = position(person, 1, person.home)
  if (units.length < 2 || !person.random.percent(SECOND_POSITION_PERCENT)) return [first]
  const elsewhere = workplaceAt(units, person.index + 1 + person.random.below(units.length - 1))
  return [first, position(person, 2, elsewhere)]
}

function position({ index, random }: NewPerson, number: number, unit: Workplace): ConnectorObject {
  const isLeader = unit.leaderIndex === index
  const isTemporary = !isLeader && random.percent(15)
  const start = date(random.below(30) + 1996, random.below(12) + 1, random.below(28) + 1)
  // Fixed end dates: some are in the past, most in the future.
  const end = date(random.percent(30) ? 2025 : 2031, random.below(12) + 1, random.below(28) + 1)
  return {
    objectType: 'relationship',
    externalId: `position-${String(index + 1).padStart(6, '0')}-${number}`,
    data: {
      title: isLeader ? `Head of ${unit.department.unit}` : random.pick(unit.department.titles),
      employeeId: `${100_000 + index}`,
      type: isTemporary && random.percent(30) ? 'Contractor' : 'Employee',
      subType: isTemporary ? 'Temporary' : 'Permanent',
      officeLocation: `${unit.name}, floor ${1 + random.below(4)}`,
      startDate: start,
      ...(isTemporary ? { endDate: end } : {}),
      identity: reference(personExternalId(index)),
      orgUnit: reference(unit.externalId),
      // Most positions inherit the manager of their unit.
      ...(!isLeader && random.percent(10) ? { manager: reference(personExternalId(unit.leaderIndex)) } : {}),
      'custom/cost_center': `${4000 + (unit.leaderIndex % 400)}`,
      'custom/full_time': random.percent(FULL_TIME_PERCENT) ? 'true' : 'false',
    },
  }
}

const date = (year: number, month: number, day: number): string =>
  `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
