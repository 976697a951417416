import type { ObjectType } from '../../../shared/domain/core/core-object.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'

export type TenantSize = {
  readonly relationshipCount: number
  readonly identityCount: number
  readonly orgUnitCount: number
}
export const LARGE: TenantSize = { relationshipCount: 1_000_000, identityCount: 900_000, orgUnitCount: 5000 }
export const MEDIUM: TenantSize = { relationshipCount: 100_000, identityCount: 90_000, orgUnitCount: 1000 }

const FIRST_NAMES = [
  'Åse',
  'Bjørn',
  'Camilla',
  'David',
  'Eva',
  'Farid',
  'Gunnar',
  'Hanna',
  'Ivar',
  'Jorunn',
  'Knut',
  'Lin',
]
const SYLLABLES = [
  'an',
  'berg',
  'dal',
  'ek',
  'fjell',
  'gård',
  'haug',
  'lund',
  'mo',
  'ness',
  'rud',
  'sen',
  'stad',
  'vik',
]
const TITLES = ['Nurse', 'Teacher', 'Engineer', 'Adviser', 'Cleaner', 'Driver', 'Cook', 'Lead', 'Planner', 'Doctor']
const DAY_MS = 86_400_000

/** GUIDs in no particular order, the same in every run. */
export function objectId(objectType: ObjectType, index: number): string {
  const kind = { identity: 1, orgUnit: 2, relationship: 3 }[objectType]
  const word = (salt: number): string =>
    mixed(index * 8 + kind, salt)
      .toString(16)
      .padStart(8, '0')
  const [first, second, third] = [word(1), word(2), word(3)]
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-8${third.slice(1, 4)}-${third.slice(4)}${index.toString(16).padStart(8, '0')}`
}

/** Org units, identities, relationships: about 23 attributes to a row, ten of them different on nearly every one. */
export function* generatedObjects(size: TenantSize): Generator<SnapshotObject> {
  for (let index = 0; index < size.orgUnitCount; index += 1) yield orgUnit(index, size)
  for (let index = 0; index < size.identityCount; index += 1) yield identity(index)
  for (let index = 0; index < size.relationshipCount; index += 1) yield relationship(index, size)
}

/** What the measured conditions read of a row, put together; days as `2026-02-11`. */
export type Row = Readonly<
  Record<'id' | 'title' | 'type' | 'employeeId' | 'officeLocation' | 'startDate' | 'countryCode', string>
> &
  Readonly<Record<'email' | 'displayName' | 'orgUnitType' | 'orgUnitName', string>> & {
    readonly endDate: string | null
    readonly synced: boolean
  }

/** The rows of the tenant's relationships, for engines that want them flat. */
export function* flatRows(size: TenantSize): Generator<Row> {
  for (let index = 0; index < size.relationshipCount; index += 1) {
    const { id, attributes } = relationship(index, size)
    const holder = identity(identityOf(index, size)).attributes
    const unit = orgUnit(orgUnitOf(index, size), size).attributes
    yield {
      id,
      title: String(attributes.title),
      type: String(attributes.type),
      employeeId: String(attributes.employeeId),
      officeLocation: String(attributes.officeLocation),
      startDate: String(attributes.startDate),
      endDate: attributes.endDate === undefined ? null : String(attributes.endDate),
      countryCode: String(holder.countryCode),
      email: String(holder.email),
      displayName: String(holder.displayName),
      synced: holder.directoryOnPremisesSyncEnabled === true,
      orgUnitType: String(unit.type),
      orgUnitName: String(unit.displayName),
    }
  }
}

function identityOf(relationshipIndex: number, { identityCount }: TenantSize): number {
  return relationshipIndex < identityCount ? relationshipIndex : mixed(relationshipIndex, 21) % identityCount
}

function orgUnitOf(relationshipIndex: number, { orgUnitCount }: TenantSize): number {
  return mixed(relationshipIndex, 22) % orgUnitCount
}

function identity(index: number): SnapshotObject {
  const [a, b] = [mixed(index, 11), mixed(index, 12)]
  const firstName = pick(FIRST_NAMES, a)
  const lastName = pick(SYLLABLES, a >>> 8) + pick(SYLLABLES, a >>> 16) + pick(SYLLABLES, b)
  const account = `${firstName.slice(0, 3)}${lastName.slice(0, 6)}${index}`.toLowerCase()
  return object('identity', index, {
    displayName: `${firstName} ${lastName}`,
    firstName,
    lastName,
    email: `${account}@example.org`,
    mobile: `+47${90_000_000 + (b % 9_999_999)}`,
    countryCode: b % 20 === 0 ? 'SE' : 'NO',
    nin: String(10_000_000_000 + index * 7),
    directoryObjectId: objectId('identity', index + 2 ** 24),
    directoryUserPrincipalName: `${account}@example.org`,
    directoryOnPremisesSyncEnabled: b % 3 === 0,
    directMemberOfDirectoryGroups: [0, 1, 2].map((each) => objectId('orgUnit', 9_000_000 + ((a >>> (each * 5)) % 500))),
    'custom/costCentre': String(1000 + (b % 400)),
  })
}

function relationship(index: number, size: TenantSize): SnapshotObject {
  const [a, b] = [mixed(index, 21), mixed(index, 22)]
  const startMs = Date.UTC(2005, 0, 1) + (a % 8000) * DAY_MS
  return object('relationship', index, {
    title: `${pick(TITLES, b)} ${(b >>> 8) % 200}`,
    employeeId: `E${String(index).padStart(7, '0')}`,
    type: b % 10 < 7 ? 'permanent' : 'temporary',
    officeLocation: `Building ${a % 300}`,
    startDate: day(startMs),
    ...(a % 4 === 0 ? { endDate: day(startMs + (b % 9000) * DAY_MS) } : {}),
    identity: { objectId: objectId('identity', identityOf(index, size)) },
    orgUnit: { objectId: objectId('orgUnit', orgUnitOf(index, size)) },
    manager: { objectId: objectId('identity', (b % size.orgUnitCount) * 3) },
    'custom/shift': pick(['day', 'evening', 'night'], a),
  })
}

function orgUnit(index: number, size: TenantSize): SnapshotObject {
  return object('orgUnit', index, {
    displayName: `${pick(SYLLABLES, index)}${index} department`,
    type: pick(['department', 'school', 'hospital', 'office'], mixed(index, 31)),
    ...(index > 0 ? { parent: { objectId: objectId('orgUnit', index >>> 2) } } : {}),
    manager: { objectId: objectId('identity', (index * 3) % size.identityCount) },
  })
}

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const all = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })

/** Five leaves each: one that leaves few rows early, one that keeps most to the end, one over all three objects. */
export const FIVE_LEAVES = {
  narrow: all(
    leaf('relationshipTitle', 'StartsWith', 'Nurse'),
    leaf('relationshipType', 'Equals', 'permanent'),
    leaf('identityCountryCode', 'Equals', 'SE'),
    leaf('orgUnitType', 'In', ['hospital', 'office']),
    leaf('relationshipStartDate', 'LessThan', 'AddDays(Today(),-365)'),
  ),
  wide: all(
    leaf('relationshipEmployeeId', 'NotEquals', 'E0000001'),
    leaf('identityEmail', 'Contains', '@example.org'),
    leaf('identityDisplayName', 'NotContains', 'zz'),
    leaf('orgUnitDisplayName', 'EndsWith', 'department'),
    leaf('relationshipOfficeLocation', 'GreaterThanOrEqual', 'A'),
  ),
  mixed: {
    groupOperator: 'OR',
    conditions: [
      all(
        leaf('identityDisplayName', 'Contains', 'berg', 'ToLower(identityDisplayName)'),
        leaf('relationshipEndDate', 'IsNull'),
      ),
      {
        groupOperator: 'NOT',
        conditions: [leaf('orgUnitType', 'Equals', 'school'), leaf('relationshipType', 'Equals', 'permanent')],
      },
      leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', true),
    ],
  },
}

/** One leaf of each kind. The others are held against the texts. */
export const SINGLE_LEAVES = {
  'a text': all(leaf('relationshipTitle', 'Contains', 'urse')),
  'a text of the person': all(leaf('identityEmail', 'Contains', '7@example')),
  'a day': all(leaf('relationshipStartDate', 'GreaterThanOrEqual', 'AddDays(Today(),-365)')),
  'an integer of the person': all(leaf('identityCustom/costCentre', 'GreaterThan', 1359)),
  'a list': all(leaf('directMemberOfDirectoryGroups', 'Contains', objectId('orgUnit', 9_000_007))),
  'a unit and all below': all(leaf('orgUnitWithAncestors', 'Contains', objectId('orgUnit', 10))),
  'an ended position': all(leaf('relationshipIsActive', 'Equals', false)),
  'a main position': all(leaf('relationshipIsPrimary', 'Equals', true)),
  'who leads a unit': all(leaf('identityManagedOrgUnits', 'Contains', objectId('orgUnit', 9))),
  'who has reports': all(leaf('identityHasReports', 'Equals', true)),
  'two attributes': all(leaf('identityFirstName', 'Equals', { attribute: 'identityLastName' })),
  'any position': { ...all(leaf('relationshipTitle', 'Contains', 'urse')), over: 'AnyPosition' },
}

/** A thousand different collections such as tenants have: by place, title, person, dates, groups, account. */
export function conditionNumber(index: number): unknown {
  const start = {
    groupOperator: 'OR',
    conditions: [leaf('relationshipEndDate', 'IsNull'), leaf('relationshipEndDate', 'GreaterThan', 'Today()')],
  }
  const unit = objectId('orgUnit', index % 1000)
  const group = objectId('orgUnit', 9_000_000 + (index % 500))
  switch (index % 5) {
    case 0:
      return all(
        leaf('relationshipOrgUnit', 'Equals', unit),
        leaf('relationshipType', 'Equals', 'permanent'),
        leaf('relationshipCustom/shift', 'NotEquals', 'night'),
        start,
      )
    case 1:
      return all(
        leaf('relationshipTitle', 'In', [`Nurse ${index % 200}`, `Doctor ${index % 200}`]),
        leaf('orgUnitType', 'Equals', 'hospital'),
        leaf('identityCountryCode', 'Equals', 'NO'),
        start,
      )
    case 2:
      return all(
        leaf('identityDisplayName', 'Contains', pick(SYLLABLES, index)),
        leaf('relationshipOfficeLocation', 'EndsWith', ` ${index % 300}`),
        leaf('identityEmail', 'IsNull'),
        start,
      )
    case 3:
      return all(
        leaf('directMemberOfDirectoryGroups', 'Contains', group),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', true),
        leaf('relationshipStartDate', 'LessThan', `20${10 + (index % 15)}-01-01`),
        start,
      )
    default:
      return all(
        leaf('identityEmail', 'StartsWith', pick(FIRST_NAMES, index).toLowerCase(), 'ToLower(identityEmail)'),
        leaf('identityCustom/costCentre', 'Equals', String(1000 + (index % 400))),
        leaf('orgUnitParent', 'NotEquals', unit),
        start,
      )
  }
}

function object(objectType: ObjectType, index: number, attributes: SnapshotObject['attributes']): SnapshotObject {
  return {
    id: objectId(objectType, index),
    objectType,
    externalId: `${objectType[0]}${index}`,
    attributes,
    deleted: false,
  }
}

function day(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

function pick(list: readonly string[], number: number): string {
  return list[number % list.length] as string
}

/** Thirty-two bits that look random, from two numbers. */
function mixed(index: number, salt: number): number {
  let word = Math.imul(index ^ Math.imul(salt, 0x9e3779b9), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return (word ^ (word >>> 16)) >>> 0
}
