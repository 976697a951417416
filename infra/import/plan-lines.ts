import { dotSegmentFault, REFERENCES } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { nameOf, type SpaceObject } from './connector-space.ts'
import type { FileObject } from './import-file.ts'

/** A line that names an object. An invalid one has a reason, and is not sent. */
export type Line = {
  readonly object: FileObject
  readonly digest: string
  readonly reason: string | undefined
}

export type LineDecision =
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'created' | 'updated'
      /** The lines of a round are sent when those of the rounds before it have succeeded. */
      readonly round: number
      /** Whether no object has the name when the line is sent. */
      readonly isNameFree: boolean
    }

/** The key of the object that a line renames. Undefined for a line that renames none. */
export function formerNameOf({ objectType, externalId, previousExternalId }: FileObject): string | undefined {
  return previousExternalId === undefined || previousExternalId === externalId
    ? undefined
    : nameOf({ objectType, externalId: previousExternalId })
}

/**
 * Decides what happens with each line. A line whose name is the former name of another object is sent only after the
 * rename of that object: otherwise one person would get the data of another. A position that refers to the new name of an
 * object whose rename is not sent is not sent either: it would refer to nothing, or to another object.
 */
export function decideLines(
  lines: readonly Line[],
  present: ReadonlyMap<string, SpaceObject>,
): ReadonlyMap<Line, LineDecision> {
  const [positions, others] = [lines.filter(isPosition), lines.filter((line) => !isPosition(line))]
  const decisions = decideInOrder(others, present)
  const unsent = namesNotGiven(decisions, present)
  const decidable = positions.map((line) => {
    const name = line.reason === undefined && referredNames(line.object).find((referred) => unsent.has(referred))
    return name ? { ...line, reason: unrenamedReason(name) } : line
  })
  return new Map([...decisions, ...decideInOrder(decidable, present)])
}

const isPosition = ({ object }: Line): boolean => object.objectType === 'relationship'

/** Why a position is not sent that refers to a new name which an object does not get. */
export const unrenamedReason = (name: string): string =>
  `it refers to ${name}, the new name of an object that is not renamed`

/** The names that invalid lines would give to objects, and no other line makes. */
function namesNotGiven(
  decisions: ReadonlyMap<Line, LineDecision>,
  present: ReadonlyMap<string, SpaceObject>,
): ReadonlySet<string> {
  const objects = [...decisions].map(([{ object }, { kind }]) => ({ object, isInvalid: kind === 'invalid' }))
  const formerNames = new Set(objects.map(({ object }) => formerNameOf(object)))
  const made = new Set(objects.flatMap(({ object, isInvalid }) => (isInvalid ? [] : [nameOf(object)])))
  const isRename = (object: FileObject): boolean => {
    const [name, former] = [nameOf(object), formerNameOf(object)]
    return former !== undefined && present.has(former) && (!present.has(name) || formerNames.has(name))
  }
  const invalid = objects.filter(({ object, isInvalid }) => isInvalid && isRename(object))
  return new Set(invalid.map(({ object }) => nameOf(object)).filter((name) => !made.has(name)))
}

function decideInOrder(
  lines: readonly Line[],
  present: ReadonlyMap<string, SpaceObject>,
): ReadonlyMap<Line, LineDecision> {
  const renames = renamesOf(lines)
  const decisions = new Map<Line, LineDecision>()
  for (const line of lines) {
    for (const member of chainOf(line, renames, decisions).reverse()) {
      const rename = renames.get(nameOf(member.object))
      const dependsOn = rename && { object: rename.object, decision: decisions.get(rename) }
      decisions.set(member, decideLine(member, dependsOn, present))
    }
  }
  return decisions
}

/** The lines that rename objects, by the former names. */
export function renamesOf(lines: readonly Line[]): ReadonlyMap<string, Line> {
  const renames = new Map<string, Line>()
  for (const line of lines) {
    const former = formerNameOf(line.object)
    if (former !== undefined && !renames.has(former)) renames.set(former, line)
  }
  return renames
}

/** The line, the one that renames the object of its name, and so on, as far as they are not decided. */
function chainOf(line: Line, renames: ReadonlyMap<string, Line>, decided: ReadonlyMap<Line, unknown>): Line[] {
  const chain = new Set<Line>()
  let next: Line | undefined = line
  while (next !== undefined && !decided.has(next) && !chain.has(next)) {
    chain.add(next)
    next = renames.get(nameOf(next.object))
  }
  return [...chain]
}

/** @param rename The line that renames the object of this line's name. It has no decision when they form a circle. */
function decideLine(
  { object, digest, reason }: Line,
  rename: { readonly object: FileObject; readonly decision: LineDecision | undefined } | undefined,
  present: ReadonlyMap<string, SpaceObject>,
): LineDecision {
  if (reason !== undefined) return { kind: 'invalid', reason }
  const decision = rename?.decision
  const isSent = decision?.kind === 'created' || decision?.kind === 'updated'
  const own = isSent && decision.isNameFree ? undefined : present.get(nameOf(object))
  if (own?.digest === digest) return { kind: 'unchanged' }
  const unnameable = own === undefined ? dotSegmentFault(object.externalId) : undefined
  if (unnameable !== undefined) return { kind: 'invalid', reason: unnameable }
  if (rename !== undefined && (decision === undefined || decision.kind === 'invalid')) {
    const { file, line } = rename.object
    const problem = decision === undefined ? 'which depends on this line' : 'which is invalid'
    return { kind: 'invalid', reason: `${nameOf(object)} is the former name in ${file}:${line}, ${problem}` }
  }
  const former = formerNameOf(object)
  const isPresent = own !== undefined || (former !== undefined && present.has(former))
  return {
    kind: isPresent ? 'updated' : 'created',
    round: isSent ? decision.round + 1 : 0,
    isNameFree: own === undefined,
  }
}

/** The names that another object had before the object of a line gets them. */
export function takenNamesOf(decisions: ReadonlyMap<Line, LineDecision>): ReadonlySet<string> {
  const taken = [...decisions].filter(([, decision]) => 'round' in decision && decision.round > 0)
  return new Set(taken.map(([{ object }]) => nameOf(object)))
}

/** The keys of the objects to which the data of an object refer. */
export function referredNames({ objectType, data }: Pick<FileObject, 'objectType' | 'data'>): string[] {
  return REFERENCES.filter(({ of }) => of === objectType).flatMap(({ name, to }) => {
    const value = data[name] as { externalId: string } | readonly { externalId: string }[] | undefined
    const references = value === undefined ? [] : [value].flat()
    return references.map(({ externalId }) => nameOf({ objectType: to, externalId }))
  })
}

/** The key of the object to which a reference leads. @param place of the reference in the data: `manager`, `deputies/1` */
export function referredName(
  objectType: ObjectType,
  data: Readonly<Record<string, unknown>>,
  place: string,
): string | undefined {
  const [name = '', index = '0'] = place.split('/')
  const to = REFERENCES.find((reference) => reference.of === objectType && reference.name === name)?.to
  const value = [data[name]].flat()[Number(index)] as { readonly externalId: string } | undefined
  return to === undefined || value === undefined ? undefined : nameOf({ objectType: to, externalId: value.externalId })
}
