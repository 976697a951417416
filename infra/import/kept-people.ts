import { nameOf, type SpaceObject } from './connector-space.ts'
import type { FileObject } from './import-file.ts'
import { holderOf, personKeysOf } from './person-keys.ts'
import { formerNameOf, type Line } from './plan-lines.ts'

type KeptPeople = {
  /** The lines. Those that would take a position from a person who is kept are invalid as well. */
  readonly lines: readonly Line[]
  /** Whether the object is such a person, or one of their positions. */
  isKept(object: SpaceObject): boolean
}

/**
 * Finds people whom no line names, but whom an invalid line may mean by another external id: they are not missing, since
 * what would replace them is not sent.
 */
export function keptPeople(lines: readonly Line[], present: ReadonlyMap<string, SpaceObject>): KeptPeople {
  const valid = new Set(lines.filter(({ reason }) => reason === undefined).map(({ object }) => nameOf(object)))
  // Another line makes the object, or it is there with these keys already.
  const isThere = ({ objectType, externalId, data }: FileObject): boolean => {
    const stored = present.get(nameOf({ objectType, externalId }))
    return stored !== undefined && personKeysOf(objectType, data).every((key) => stored.keys.includes(key))
  }
  const invalid = lines
    .filter(({ object, reason }) => reason !== undefined && !valid.has(nameOf(object)) && !isThere(object))
    .map(({ object }) => object)
  const keys = new Set(invalid.flatMap(({ objectType, data }) => personKeysOf(objectType, data)))
  if (keys.size === 0) return { lines, isKept: () => false }
  const named = new Set(lines.flatMap(({ object }) => [nameOf(object), formerNameOf(object)]))
  const people = [...present.values()].filter(
    (object) => !named.has(nameOf(object)) && object.keys.some((key) => keys.has(key)),
  )
  const kept = new Set(people.map(({ externalId }) => externalId))
  const unsent = new Set(invalid.filter(({ objectType }) => objectType === 'identity').map(nameOf))
  const unsentHolder = ({ object, reason }: Line): string | undefined => {
    const holder = nameOf({ objectType: 'identity', externalId: holderOf(object.objectType, object.data) ?? '' })
    const stored = present.get(nameOf(object)) ?? present.get(formerNameOf(object) ?? '')
    return reason === undefined && unsent.has(holder) && kept.has(stored?.holder ?? '') ? holder : undefined
  }
  return {
    lines: lines.map((line) => {
      const holder = unsentHolder(line)
      return holder === undefined ? line : { ...line, reason: `the line of ${holder} is invalid` }
    }),
    isKept: ({ objectType, externalId, holder }) => kept.has((objectType === 'identity' ? externalId : holder) ?? ''),
  }
}
