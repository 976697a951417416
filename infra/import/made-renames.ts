import { nameOf, type SpaceObject } from './connector-space.ts'
import type { FileObject } from './import-file.ts'
import { personKeysOf } from './person-keys.ts'
import { formerNameOf, type Line, renamesOf } from './plan-lines.ts'

/**
 * Removes the former names from lines whose objects are renamed already, where another object has the former name by now:
 * the API takes such a line for a clash of two objects. No object tells that it is renamed. It counts as renamed if
 * - it exists, and no line is to rename the object of its name,
 * - a line names the object of the former name, and that object has its name already as well, and
 * - the keys of the person do not belong to the object of the former name.
 * Without these, the API decides.
 */
export function withoutMadeRenames(lines: readonly Line[], present: ReadonlyMap<string, SpaceObject>): Line[] {
  const renames = renamesOf(lines)
  if (renames.size === 0) return [...lines]
  const named = new Map(lines.toReversed().map((line) => [nameOf(line.object), line]))
  const haveTheirNames = decidedByChains(lines, ({ object }) => {
    const name = nameOf(object)
    return present.has(name) && !hasFormerName(object, present) ? (renames.get(name) ?? true) : false
  })
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

/** Whether the object of the former name has a key of the person, and that of the new name has none. */
function hasFormerName(object: FileObject, present: ReadonlyMap<string, SpaceObject>): boolean {
  const keys = personKeysOf(object.objectType, object.data)
  const isPerson = (name: string): boolean => present.get(name)?.keys.some((key) => keys.includes(key)) ?? false
  return isPerson(formerNameOf(object) ?? '') && !isPerson(nameOf(object))
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
