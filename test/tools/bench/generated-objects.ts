import { to, upsert } from '../../support/api/core-data-service.ts'

type Item = ReturnType<typeof upsert>

/** Batch items of a municipality of `count` objects, and identities that make its people `identityCount`. */
export function generatedObjects(
  count: number,
  identityCount: number,
): { readonly items: readonly Item[]; readonly moreIdentities: readonly Item[] } {
  const orgUnits = Array.from({ length: Math.round(count * 0.02) }, (_, index) =>
    upsert('orgUnit', `o${index}`, {
      displayName: `Unit ${index}`,
      ...(index > 0 ? { parent: to(`o${Math.floor((index - 1) / 8)}`) } : {}),
      manager: to(`p${index}`),
    }),
  )
  const peopleCount = Math.round(count * 0.46)
  const people = Array.from({ length: Math.max(peopleCount, identityCount) }, (_, index) => person(index))
  const relationships = Array.from({ length: count - orgUnits.length - peopleCount }, (_, index) =>
    upsert('relationship', `r${index}`, {
      title: `Job ${index % 50}`,
      employeeId: String(index),
      startDate: '2024-01-01',
      identity: to(`p${index % peopleCount}`),
      orgUnit: to(`o${index % orgUnits.length}`),
    }),
  )
  return {
    items: [...orgUnits, ...people.slice(0, peopleCount), ...relationships],
    moreIdentities: people.slice(peopleCount),
  }
}

/** What a second system says of the first people: other names for them, and the number that they are joined by. */
export function joiningIdentities(count: number): readonly Item[] {
  return Array.from({ length: count }, (_, index) =>
    upsert('identity', `second${index}`, { mobile: `+47 ${index}`, nin: ninOf(index) }),
  )
}

const ninOf = (index: number): string => String(10_000_000_000 + index)

const person = (index: number): Item =>
  upsert('identity', `p${index}`, {
    displayName: `${index % 10 === 0 ? 'Pérson' : 'Person'} ${index}`,
    firstName: 'Person',
    lastName: String(index),
    email: `person${index}@example.org`,
    nin: ninOf(index),
    primaryRelationship: to(`r${index}`),
  })
