import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { daysLater } from './day-model.ts'
import type { Organisation } from './organisation.ts'
import type { ObjectData, ObjectKind } from './people-model.ts'
import { pickOf } from './picks.ts'
import { awaitsPosition } from './request-model.ts'

export const TITLES = ['Teacher', 'Nurse', 'Cook', 'Librarian', 'Head of school']
export const UNIT_TYPES = ['School', 'Ward', 'Office']
export const COUNTRIES = ['NO', 'SE', 'DK']
/** First names of people, which change. */
export const NAMES = ['Ada', 'Bo', 'Cai', 'Dag', 'Eli']

/** The first people stay: they are the approvers that policies name. */
export const STAFF_COUNT = 4
/** The address of a member of staff. */
export const mailOf = (nin: string): string => `user${Number(nin) - Number(ninOf(0))}@soak.example`
/** Staff, and people who come and go, are the managers. Only the HR system knows them. */
export const LEADER_COUNT = 10

export const ninOf = (person: number): string => String(10_000_000_000 + person)
export const isStaff = (nin: string): boolean => Number(nin) < Number(ninOf(STAFF_COUNT))
/** Leaders are never merged with others. */
export const isLeader = (nin: string): boolean => Number(nin) < Number(ninOf(LEADER_COUNT))
/** @param externalId Of a person in the HR system. */
export const ninOfExternalId = (externalId: string): string => ninOf(Number.parseInt(externalId.slice(1), 10))
/** Every third person gets the account from the source of accounts, the others from the HR system. */
export const isBoundByAccounts = (person: number): boolean => person >= LEADER_COUNT && person % 3 === 0

/** People of the HR system who can have a card, which has no national identity number. They have no other account. */
export const hasCard = (person: number): boolean =>
  person >= LEADER_COUNT && person < LEADER_COUNT + 40 && person % 3 === 1

export type SourceItem = {
  readonly objectType: ObjectKind
  readonly externalId: string
  /** The name that the object has had so far. */
  readonly previousExternalId?: string
  readonly data?: ObjectData
}

export const unitItem = ({ names }: Organisation, unit: number, random: Random): SourceItem => ({
  objectType: 'orgUnit',
  externalId: names.of(`U${unit}`),
  data: {
    displayName: `${pickOf(random, UNIT_TYPES)} ${unit}`,
    type: pickOf(random, UNIT_TYPES),
    // A parent has a lower number, so that there is no cycle.
    ...(unit > 0 ? { parent: { externalId: names.of(`U${random.below(unit)}`) } } : {}),
    ...(random.percent(60) ? { manager: { externalId: names.of(`P${random.below(LEADER_COUNT)}`) } } : {}),
  },
})

export function identityItem({ tenant, names }: Organisation, person: number, random: Random): SourceItem {
  return {
    objectType: 'identity',
    externalId: names.of(`P${person}`),
    data: {
      displayName: `${pickOf(random, NAMES)} ${person}`,
      nin: ninOf(person),
      countryCode: pickOf(random, COUNTRIES),
      ...(isStaff(ninOf(person)) ? { email: mailOf(ninOf(person)) } : {}),
      ...(hasCard(person) ? cardKeys(String(person), random) : {}),
      ...(isBoundByAccounts(person) ? {} : { directoryObjectId: tenant.accounts[person] }),
    },
  }
}

function positionItem(
  { unitCount, names, model }: Organisation,
  person: number,
  letter: 'R' | 'S',
  random: Random,
): SourceItem {
  const leader = random.below(LEADER_COUNT)
  return {
    objectType: 'relationship',
    externalId: names.of(`${letter}${person}`),
    data: {
      title: pickOf(random, TITLES),
      employeeId: `${letter}${person}`,
      identity: { externalId: names.of(`P${person}`) },
      orgUnit: { externalId: names.of(`U${random.below(unitCount)}`) },
      startDate: daysLater(model.today, random.below(6) - 2),
      ...(random.percent(40) && leader !== person ? { manager: { externalId: names.of(`P${leader}`) } } : {}),
    },
  }
}

/**
 * One of a person's positions. None while it is deleted and a request was for it: the request keeps the position only
 * if it is delivered again before the service notices the deletion.
 */
export function deliveredPosition(
  organisation: Organisation,
  person: number,
  letter: 'R' | 'S',
  random: Random,
): SourceItem[] {
  const item = positionItem(organisation, person, letter, random)
  const isAwaited = [...organisation.model.joinable.values()].some(({ requests }) =>
    requests.some((request) => awaitsPosition(request, item.externalId)),
  )
  return isAwaited ? [] : [item]
}

export const hire = (organisation: Organisation, person: number, random: Random): SourceItem[] => [
  identityItem(organisation, person, random),
  ...deliveredPosition(organisation, person, 'R', random),
  ...(random.percent(60) ? deliveredPosition(organisation, person, 'S', random) : []),
]

/** What a card and its holder have in common. Texts are compared without case. */
const cardKeys = (number: string, random: Random): ObjectData => ({
  employeeNumber: `e${number}`,
  ...(random.percent(70) ? { email: `user${number}@soak.example` } : {}),
  ...(random.percent(70) ? { 'custom/badge': `Badge ${number}` } : {}),
})

export function cardItem({ tenant, personCount }: Organisation, person: number, random: Random): SourceItem {
  const keys = Object.entries(cardKeys(String(person), random)).map(([key, value]) => [
    key,
    String(value).toUpperCase(),
  ])
  const account = tenant.accounts[2 * personCount + person]
  return {
    objectType: 'identity',
    externalId: `C${person}`,
    data: { displayName: `Card ${person}`, directoryObjectId: account, ...Object.fromEntries(keys) },
  }
}

export function accountItem({ tenant, names }: Organisation, person: number): SourceItem {
  return {
    objectType: 'identity',
    externalId: names.of(`A${person}`),
    data: {
      nin: ninOf(person),
      directoryObjectId: tenant.accounts[person],
      directoryUserPrincipalName: `user${person}@soak.example`,
    },
  }
}

export const payrollItem = ({ tenant, personCount }: Organisation, person: number, nin: string): SourceItem => ({
  objectType: 'identity',
  externalId: `X${person}`,
  data: { displayName: `Payroll ${person}`, nin, directoryObjectId: tenant.accounts[personCount + person] },
})

/** The number under which the payroll first delivers a person: an identity of its own. */
export const payrollNinOf = (person: number): string => String(20_000_000_000 + person)
