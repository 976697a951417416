import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { GROUP_NAMES, TITLES } from './definitions-tenant.ts'

const CRITERIA_NAMES = ['C0', 'C1', 'C2', 'C3', 'C4'] as const
const JOINABLE_NAMES = ['J0', 'J1', 'J2'] as const
const COLLECTION_NAMES = [...CRITERIA_NAMES, ...JOINABLE_NAMES]

/** What files define, by the name of a file. */
export type Files = Map<string, object>

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const referred = (collection: string) => ({ collection })

/** Depends on the name only: a collection keeps its type. */
export const objectTypeOf = (name: string): string =>
  name.startsWith('J') || Number(name.slice(1)) % 2 === 1 ? 'Identity' : 'Relationship'

/** Another order of the collections for each edit, in which references lead backwards: in between there can be circles. */
function earlierThan(name: string, names: readonly string[], random: Random): string[] {
  const turn = random.below(names.length)
  const rotated = [...names.slice(turn), ...names.slice(0, turn)]
  return rotated.slice(0, rotated.indexOf(name))
}

function conditionOf(random: Random, others: readonly string[]): object {
  const conditions = Array.from({ length: 1 + random.below(2) }, () => {
    if (others.length === 0 || random.percent(45)) {
      return leaf('relationshipTitle', random.pick(['Equals', 'NotEquals']), random.pick(TITLES))
    }
    return random.percent(60)
      ? leaf('memberOfCollection', random.pick(['Equals', 'NotEquals']), referred(random.pick(others)))
      : leaf('memberOfCollection', 'In', [...new Set([random.pick(others), random.pick(others)])].map(referred))
  })
  return { groupOperator: random.pick(['AND', 'OR', 'NOT']), conditions }
}

/** Policies may refer to each other in circles. */
function policyOf(random: Random, others: readonly string[]): object {
  const choir = () => ({ type: 'Collection', approvers: [referred(random.pick(others))] })
  const gates = [{ type: 'Manager' }, ...(others.length > 0 && random.percent(60) ? [choir()] : [])]
  return {
    approvalRequired: true,
    approvalGates: gates.map((gate, index) => ({ order: index + 1, ...gate })),
    joinableBy: { collectionIds: others.length > 0 && random.percent(40) ? [referred(random.pick(others))] : [] },
    ...(random.percent(30) ? { maxDays: 1 + random.below(3) } : {}),
  }
}

/** A collection with random contents, which refers to others of the files. */
export function randomCollection(name: string, present: readonly string[], random: Random): object {
  const others = present.filter((other) => other !== name)
  const isCriteria = name.startsWith('C')
  const earlier = others.filter((other) => other.startsWith('J')).concat(earlierThan(name, CRITERIA_NAMES, random))
  const known = earlier.filter((other) => others.includes(other))
  return {
    name,
    objectType: objectTypeOf(name),
    ...(random.percent(30) ? { description: `Version ${random.below(3)}` } : {}),
    ...(random.percent(30) ? { metadata: { tags: [random.pick(['a', 'b'])] } } : {}),
    ...(isCriteria ? { condition: conditionOf(random, known) } : { joinPolicy: policyOf(random, others) }),
  }
}

export const namesIn = (files: Files): string[] => COLLECTION_NAMES.filter((name) => files.has(name))

/** One to four random edits. Files may refer to collections that another edit takes out: these are mistakes. */
export function editFiles(files: Files, random: Random): void {
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const kind = random.below(10)
    const name = random.pick(COLLECTION_NAMES)
    if (kind < 5) files.set(name, randomCollection(name, namesIn(files), random))
    else if (kind === 5 && !isReferred(name, files)) files.delete(name)
    else if (kind === 6) {
      files.set('settings', { removalGuard: { minimum: random.below(3), percent: 10 + random.below(3) } })
    } else editLink(files, random)
  }
}

function editLink(files: Files, random: Random): void {
  const group = random.pick(GROUP_NAMES)
  const names = namesIn(files)
  if (names.length === 0 || random.percent(30)) files.delete(group)
  else
    files.set(group, { collection: random.pick(names), group, state: random.pick(['Enabled', 'Enabled', 'Disabled']) })
}

const isReferred = (name: string, files: Files): boolean =>
  [...files].some(([file, value]) => file !== name && JSON.stringify(value).includes(`"collection":"${name}"`))
