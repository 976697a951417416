import fc from 'fast-check'
import type { ObjectData } from '../../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { OBJECT_TYPES, type ObjectType } from '../../../shared/domain/core/core-object.ts'

const NAMES = ['1', '2', '3'] as const

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const referenceTo = (names: readonly string[]) => maybe(fc.constantFrom(...names).map((externalId) => ({ externalId })))
const reference = referenceTo(NAMES)
const text = maybe(fc.constantFrom('a', 'b'))
/** Few keys, so that most identities share one. */
const key = fc.constantFrom(...NAMES)

/** The account with this digit. */
export const accountOf = (digit: string): string => `0a0a0a0a-0000-4000-8000-00000000000${digit}`

function dataOf(objectType: ObjectType, externalId: string): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  if (objectType === 'identity') {
    return fc.record({
      displayName: text,
      nin: maybe(key),
      directoryObjectId: maybe(key.map(accountOf)),
      email: text,
    })
  }
  if (objectType === 'relationship') return fc.record({ title: text, identity: reference, orgUnit: reference })
  // Only units before this one, because the order of writes decides which unit of a cycle is refused.
  const before = NAMES.filter((name) => name < externalId)
  const parent = before.length === 0 ? fc.constant(undefined) : referenceTo(before)
  return fc.record({ displayName: text, manager: reference, parent })
}

/**
 * Writes of few objects of a connector, most of them identities that share keys with others, a quarter of them
 * deletions.
 */
export const objectWrite: fc.Arbitrary<ObjectWrite> = fc
  .tuple(
    fc.constantFrom<ObjectType>(...Array.from({ length: 6 }, () => 'identity' as const), ...OBJECT_TYPES),
    fc.constantFrom(...NAMES),
  )
  .chain(([objectType, externalId]) =>
    fc.option(dataOf(objectType, externalId), { nil: undefined, freq: 3 }).map((data): ObjectWrite => {
      if (data === undefined) return { operation: 'delete', objectType, externalId }
      const given = Object.entries(data).filter(([, value]) => value !== undefined)
      return { operation: 'upsert', objectType, externalId, data: Object.fromEntries(given) as ObjectData }
    }),
  )

export const nameOf = ({ objectType, externalId }: Pick<ObjectWrite, 'objectType' | 'externalId'>): string =>
  `${objectType} ${externalId}`
