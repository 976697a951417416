import { nameOf, type SpaceObject } from './connector-space.ts'
import { personKeysOf } from './person-keys.ts'
import { formerNameOf, type Line, renamesOf } from './plan-lines.ts'

/**
 * Removes the former names from lines whose objects are renamed already, where another object has the former name by now:
 * the API takes such a line for a clash of two objects. No object tells that it is renamed. It counts as renamed if
 * - it exists, and no line is to rename the object of its name,
 * - a line names the object of the former name, and that object has its name already as well, and
 * - it has the data of the line or a key of the person, unless there are no keys at all.
 * Without these, the API decides.
 */
export function withoutMadeRenames(lines: readonly Line[], present: ReadonlyMap<string, SpaceObject>): Line[] {
  const renames = renamesOf(lines)
  if (renames.size === 0) return [...lines]
  const named = new Map(lines.toReversed().map((line) => [nameOf(line.object), line]))
  const haveTheirNames = decidedByChains(lines, (line) =>
    isOfLine(line, present) ? (renames.get(nameOf(line.object)) ?? true) : false,
  )
  const areHandedOn = decidedByChains(lines, ({ object }) => {
    const holder = named.get(formerNameOf(object) ?? '')
    if (holder === undefined) return false
    const before = formerNameOf(holder.object)
    const isUnchanged = present.get(nameOf(holder.object))?.digest === holder.digest
    return before === undefined || !present.has(before) || isUnchanged ? true : holder
  })
  return lines.map((line) => {
    const isMade = present.has(formerNameOf(line.object) ?? '') && haveTheirNames.has(line) && areHandedOn.has(line)
    if (!isMade) return line
    const { previousExternalId: _former, ...object } = line.object
    return { ...line, object }
  })
}

/** Whether the object of the new name is of the line: another one can have had this name before the rename. */
function isOfLine({ object, digest }: Line, present: ReadonlyMap<string, SpaceObject>): boolean {
  const own = present.get(nameOf(object))
  if (own === undefined) return false
  const keys = personKeysOf(object.objectType, object.data)
  const former = present.get(formerNameOf(object) ?? '')
  const hasKeys = [keys, own.keys, former?.keys ?? []].some((some) => some.length > 0)
  return own.digest === digest || (hasKeys ? own.keys.some((key) => keys.includes(key)) : true)
}

/**
 * The lines for which a decision is true. A decision can be that of another line, and so on; it is false in a circle.
 * Lines can be in chains as long as the files.
 */
function decidedByChains(lines: readonly Line[], decide: (line: Line) => Line | boolean): ReadonlySet<Line> {
  const decisions = new Map<Line, boolean>()
  for (const line of lines) {
    const chain = new Set<Line>()
    let decision: Line | boolean = line
    while (typeof decision !== 'boolean') {
      const known: boolean | undefined = chain.has(decision) ? false : decisions.get(decision)
      chain.add(decision)
      decision = known ?? decide(decision)
    }
    for (const member of chain) decisions.set(member, decision)
  }
  return new Set(lines.filter((line) => decisions.get(line)))
}
