import type { PersonSeed } from '../directory/seed.ts'
import { type ConnectorObject, type Municipality, ROOT_UNIT, reference } from './municipality.ts'
import { derivedGuid, derivedSecret } from './seeded-random.ts'

const ADMINISTRATOR = 'Administrator'
const COLLECTIONS_ADMINISTRATOR = 'collection_criteria_definition-administrator'
const USER = 'User'

/** Org units of the demo people. */
const UNITS = {
  department: 'demo-digital-services',
  serviceDesk: 'demo-service-desk',
  archive: 'demo-archive',
} as const

type DemoPerson = {
  readonly name: string
  readonly displayName: string
  readonly roles: readonly string[]
  /** A person without a position has no core identity. */
  readonly positions: readonly { unit: string; title: string; manager?: string }[]
}

/** One for each role in a process: administrators, managers, approvers, staff with one or several positions. */
const PEOPLE: readonly DemoPerson[] = [
  {
    name: 'admin',
    displayName: 'Ada Åsheim',
    roles: [ADMINISTRATOR, COLLECTIONS_ADMINISTRATOR],
    positions: [{ unit: UNITS.department, title: 'Head of Digital Services' }],
  },
  { name: 'collectionsAdmin', displayName: 'Collin Søreng', roles: [COLLECTIONS_ADMINISTRATOR], positions: [] },
  { name: 'coreAdmin', displayName: 'Cora Ædelby', roles: [ADMINISTRATOR], positions: [] },
  {
    name: 'manager',
    displayName: 'Magnhild Førde-Lie',
    roles: [USER],
    positions: [{ unit: UNITS.serviceDesk, title: 'Head of Service Desk' }],
  },
  {
    name: 'employee',
    displayName: 'Emil Øvrebø',
    roles: [USER],
    positions: [{ unit: UNITS.serviceDesk, title: 'Adviser', manager: 'manager' }],
  },
  {
    name: 'colleague',
    displayName: 'Kolbjørn Dåvik',
    roles: [USER],
    positions: [
      { unit: UNITS.serviceDesk, title: 'Technician' },
      { unit: UNITS.archive, title: 'Archivist' },
    ],
  },
  {
    name: 'approver',
    displayName: 'Aprilla Grøndahl',
    roles: [USER],
    positions: [{ unit: UNITS.archive, title: 'Head of Archive' }],
  },
  { name: 'newcomer', displayName: 'Nyla Strøm', roles: [USER], positions: [] },
  { name: 'outsider', displayName: 'Uther Kjærgård', roles: [], positions: [] },
]

/** The demo people as users of the directory. */
export function demoPeople(tenant: Pick<Municipality, 'domain' | 'tenantId'>, seed: string): PersonSeed[] {
  return PEOPLE.map(({ name, displayName, roles }) => ({
    name,
    displayName,
    roles,
    username: `${name.toLowerCase()}@${tenant.domain}`,
    password: derivedSecret(seed, tenant.tenantId, 'password', name),
    objectId: derivedGuid(seed, tenant.tenantId, 'demo person', name),
  }))
}

const externalIdOf = (name: string): string => `demo-${name}`
const positionIdOf = (name: string, index: number): string => `demo-${name}-position-${index + 1}`

/** Adds the units, identities and positions of the demo people to the municipality, before its own. */
export function withDemoPeople(municipality: Municipality, seed: string): Municipality {
  const accounts = new Map(demoPeople(municipality, seed).map((person) => [person.name, person]))
  const employed = PEOPLE.filter(({ positions }) => positions.length > 0)
  return {
    ...municipality,
    orgUnits: [...demoUnits(municipality.domain), ...municipality.orgUnits],
    identities: [
      ...employed.map((person, index) => identity(person, index, accounts.get(person.name))),
      ...municipality.identities,
    ],
    relationships: [...employed.flatMap(positions), ...municipality.relationships],
  }
}

function demoUnits(domain: string): ConnectorObject[] {
  const unit = (externalId: string, displayName: string, type: string, parent: string, manager: string) => ({
    objectType: 'orgUnit' as const,
    externalId,
    data: {
      displayName,
      type,
      email: `${externalId}@${domain}`,
      parent: reference(parent),
      manager: reference(externalIdOf(manager)),
    },
  })
  return [
    unit(UNITS.department, 'Digital Services', 'Department', ROOT_UNIT, 'admin'),
    unit(UNITS.serviceDesk, 'Service Desk', 'Unit', UNITS.department, 'manager'),
    unit(UNITS.archive, 'Archive', 'Unit', UNITS.department, 'approver'),
  ]
}

function identity({ name, displayName }: DemoPerson, index: number, account: PersonSeed | undefined): ConnectorObject {
  if (account === undefined) throw new Error(`${name} has no account`)
  const [firstName = '', ...lastNames] = displayName.split(' ')
  return {
    objectType: 'identity',
    externalId: externalIdOf(name),
    data: {
      displayName,
      firstName,
      lastName: lastNames.join(' '),
      email: account.username,
      countryCode: 'NO',
      // The generated people use years from 1950.
      nin: `019100${String(index + 1).padStart(5, '0')}`,
      directoryObjectId: account.objectId,
      directoryUserPrincipalName: account.username,
      primaryRelationship: reference(positionIdOf(name, 0)),
    },
  }
}

function positions({ name, positions }: DemoPerson): ConnectorObject[] {
  return positions.map(({ unit, title, manager }, index) => ({
    objectType: 'relationship',
    externalId: positionIdOf(name, index),
    data: {
      title,
      employeeId: `demo-${name}`,
      type: 'Employee',
      subType: 'Permanent',
      officeLocation: 'Town Hall',
      startDate: '2020-01-01',
      identity: reference(externalIdOf(name)),
      orgUnit: reference(unit),
      ...(manager === undefined ? {} : { manager: reference(externalIdOf(manager)) }),
    },
  }))
}
