import type { TObject, TSchema } from 'typebox'
import { pointerPart } from '../kernel/json.ts'
import { nearMiss } from '../kernel/near-misses.ts'
import { type RefusalEntry, refusalEntry } from '../kernel/refusals.ts'

/** Unknown names that one response reports at most. */
const MAX_REPORTED_COUNT = 50

/** The parts of a JSON schema that say which members a value can have. */
type MemberSchema = {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

/**
 * The members of a body, at any depth, that the schema does not know and that resemble one that it knows. Other unknown
 * members are ignored: clients send back whole records. Names that callers choose, such as keys of metadata, are free.
 */
export function misspeltMembers(schema: TSchema, body: unknown): RefusalEntry[] {
  const entries: RefusalEntry[] = []
  collect([schema], body, '', entries)
  return entries
}

/** The parameters of a query that the schema does not know and that resemble one that it knows. */
export function misspeltParameters({ properties }: TObject, search: URLSearchParams): RefusalEntry[] {
  const known = Object.keys(properties)
  return [...new Set(search.keys())].slice(0, MAX_REPORTED_COUNT).flatMap((name) => {
    const meant = nearMiss(name, known)
    return meant === undefined
      ? []
      : [refusalEntry('UnknownParameter', `There is no parameter ${name}, only ${meant}`, name)]
  })
}

/** @param schemas Alternatives: a value may have the members of each. */
function collect(schemas: readonly TSchema[], value: unknown, pointer: string, entries: RefusalEntry[]): void {
  if (typeof value !== 'object' || value === null || entries.length >= MAX_REPORTED_COUNT) return
  const alternatives = schemas.flatMap((schema) => (schema as MemberSchema).anyOf ?? [schema]) as MemberSchema[]
  if (Array.isArray(value)) {
    const items = alternatives.flatMap((schema) => schema.items ?? [])
    if (items.some(hasMembers))
      for (const [index, item] of value.entries()) collect(items, item, `${pointer}/${index}`, entries)
    return
  }
  const known = new Set(alternatives.flatMap(({ properties = {} }) => Object.keys(properties)))
  if (known.size === 0) return
  const names = [...known]
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${pointerPart(name)}`
    if (known.has(name)) {
      const members = alternatives.flatMap(({ properties = {} }) =>
        Object.hasOwn(properties, name) ? (properties[name] ?? []) : [],
      )
      collect(members, member, at, entries)
      continue
    }
    const meant = nearMiss(name, names)
    if (meant !== undefined)
      entries.push(refusalEntry('UnknownMember', `There is no member ${name}, only ${meant}`, at))
    if (entries.length >= MAX_REPORTED_COUNT) return
  }
}

function hasMembers(schema: TSchema): boolean {
  const { properties, items, anyOf } = schema as MemberSchema
  return properties !== undefined || items !== undefined || anyOf !== undefined
}
