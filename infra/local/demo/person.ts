import { derivedGuid, type Random } from './seeded-random.ts'
import { COUNTRY_CODES, FIRST_NAMES, LAST_NAMES, LICENSES } from './vocabulary.ts'

export type NewPerson = { readonly index: number; readonly random: Random }

type PersonName = { readonly firstName: string; readonly lastName: string; readonly mailbox: string }

type Surroundings = {
  readonly seed: string
  readonly tenantNumber: number
  readonly domain: string
  readonly name: PersonName
}

/** Positions among a hundred people that have no account (3 %). */
const WITHOUT_ACCOUNT = [17, 50, 83]

/** Generates unique mailbox names: the second Kari Nordbø gets a number. */
export function uniqueNames() {
  const taken = new Map<string, number>()
  return {
    take(random: Random): PersonName {
      const [firstName, lastName] = [random.pick(FIRST_NAMES), random.pick(LAST_NAMES)]
      const plain = `${plainLetters(firstName)}.${plainLetters(lastName)}`
      const count = (taken.get(plain) ?? 0) + 1
      taken.set(plain, count)
      return { firstName, lastName, mailbox: count === 1 ? plain : `${plain}${count}` }
    },
  }
}

/** The attributes of an identity. */
export function personData({ index, random }: NewPerson, { seed, tenantNumber, domain, name }: Surroundings) {
  const email = `${name.mailbox}@${domain}`
  const account = WITHOUT_ACCOUNT.includes(index % 100)
    ? {}
    : {
        directoryObjectId: derivedGuid(seed, tenantNumber, 'user', index),
        directoryUserPrincipalName: email,
        directoryOnPremisesSamAccountName: `u${100_000 + index}`,
        directoryOnPremisesDistinguishedName: `CN=u${100_000 + index},OU=Users,DC=${domain.replace('.', ',DC=')}`,
        directoryOnPremisesSyncEnabled: random.percent(70),
        ...(random.percent(60)
          ? { assignedLicenses: random.percent(20) ? [...LICENSES] : [random.pick(LICENSES)] }
          : {}),
      }
  return {
    displayName: `${name.firstName} ${name.lastName}`,
    firstName: name.firstName,
    lastName: name.lastName,
    email,
    countryCode: random.pick(COUNTRY_CODES),
    nin: fictionalNin(index, random),
    mobile: phone(random),
    ...(random.percent(40) ? { privateMobile: phone(random) } : {}),
    ...(random.percent(40) ? { privateEmail: `${name.mailbox}@private.example` } : {}),
    ...(random.percent(30) ? { 'custom/license_plate': licensePlate(random) } : {}),
    ...(random.percent(50) ? { 'custom/shirt_size': random.pick(['S', 'M', 'L', 'XL']) } : {}),
    primaryRelationship: { externalId: `position-${String(index + 1).padStart(6, '0')}-1` },
    ...account,
  }
}

/**
 * Eleven digits in the Norwegian format, with 80 added to the month, which does not occur in real numbers. The numbers
 * are unique: the last five digits count the people, and the parity of the year changes with each 100,000.
 */
function fictionalNin(index: number, random: Random): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const year = 50 + 2 * random.below(25) + (Math.floor(index / 100_000) % 2)
  return `${two(1 + random.below(28))}${81 + random.below(12)}${two(year)}${String(index % 100_000).padStart(5, '0')}`
}

const phone = (random: Random): string => `+47 00${String(random.below(1_000_000)).padStart(6, '0')}`

const licensePlate = (random: Random): string =>
  `${random.pick(['EK', 'EV', 'DR', 'SU', 'ZZ'])}${String(10_000 + random.below(90_000))}`

const LETTERS: Record<string, string> = { æ: 'ae', ø: 'o', å: 'a', þ: 'th', đ: 'd' }

/** Converts a name to lower-case ASCII for addresses. */
const plainLetters = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[æøåþđ]/g, (letter) => LETTERS[letter] ?? '')
    .normalize('NFD')
    .replace(/[^a-z-]/g, '')
