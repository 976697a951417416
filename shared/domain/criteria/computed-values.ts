import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { type Bitmap, hasBit } from '../tenant-index/rows/bitmap.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ComputedName } from './computed-attributes.ts'

/** The values of a computed attribute on the objects of a snapshot, by slot. */
export type ComputedValues = {
  /** Undefined where the attribute is missing; otherwise a boolean, or slots of the objects in a list. */
  valueAt(slot: number, todayMs: number): boolean | readonly number[] | undefined
  /** Whether the list of an object has an element. Does not create the list, as `valueAt` does. */
  contains(slot: number, element: number): boolean
}

/** Binds a computed attribute to the rows from which its values follow. */
export function computedValues(name: ComputedName, rows: RowSnapshot): ComputedValues {
  switch (name) {
    case 'relationshipIsActive':
      return activeValues(rows)
    case 'relationshipIsPrimary':
      return primaryValues(rows)
    case 'orgUnitWithAncestors':
      return ancestorValues(rows)
    case 'identityManagedOrgUnits':
    case 'identityDeputyOfOrgUnits':
      return unitsLedValues(rows, (unit) => LEADERS_OF[name]?.(unit, rows) ?? [])
    case 'identityHasReports':
      return reportValues(rows)
  }
}

/** The identities that lead a unit in one way, by slots; 0 for one that is missing. */
export type LeadersOf = (unit: number, rows: RowSnapshot) => readonly number[]

/** By the computed attribute that lists the units of those who lead them. */
export const LEADERS_OF: Readonly<Partial<Record<ComputedName, LeadersOf>>> = {
  identityManagedOrgUnits: (unit, { tables: { orgUnit } }) => [orgUnit.column('manager').codeAt(unit)],
  identityDeputyOfOrgUnits: (unit, rows) => deputiesOf(unit, rows),
}

const NO_LIST = { contains: () => false }

function activeValues({ tables: { relationship } }: RowSnapshot): ComputedValues {
  const end = relationship.column('endDate')
  const { values } = end
  return {
    ...NO_LIST,
    valueAt(slot, todayMs) {
      if (!relationship.isLive(slot)) return undefined
      const code = end.codeAt(slot)
      return code === 0 || values.kind !== 'instant' || (values.instantsMs[code] as number) >= todayMs
    },
  }
}

function primaryValues(rows: RowSnapshot): ComputedValues {
  const { identity, relationship } = rows.tables
  const primary = identity.column('primaryRelationship')
  const holder = rows.link('identity')
  return {
    ...NO_LIST,
    valueAt(slot) {
      if (!relationship.isLive(slot)) return undefined
      return primary.codeAt(holder.codeAt(slot)) === slot
    },
  }
}

function ancestorValues({ tables: { orgUnit } }: RowSnapshot): ComputedValues {
  const parent = orgUnit.column('parent')
  /** Parents form no circle, except for a moment while the changes of a connector arrive. */
  const chainOf = (slot: number): number[] => {
    const chain: number[] = []
    for (let unit = slot; orgUnit.isLive(unit) && !chain.includes(unit); unit = parent.codeAt(unit)) chain.push(unit)
    return chain
  }
  return {
    valueAt: (slot) => (orgUnit.isLive(slot) ? chainOf(slot) : undefined),
    contains: (slot, element) => element !== 0 && chainOf(slot).includes(element),
  }
}

/** By the revision of rows: the identities that lead others on a day. Conditions share it. */
const leadersByRevision = new WeakMap<object, { readonly todayMs: number; readonly leaders: Bitmap }>()

export function* leadersTask(rows: RowSnapshot, todayMs: number): Task<Bitmap> {
  const known = leadersByRevision.get(rows.revision)
  if (known?.todayMs === todayMs) return known.leaders
  const leaders = yield* new OrgChart(rows, todayMs).leadersTask()
  leadersByRevision.set(rows.revision, { todayMs, leaders })
  return leaders
}

function reportValues(rows: RowSnapshot): ComputedValues {
  const { identity } = rows.tables
  return {
    ...NO_LIST,
    valueAt: (slot, todayMs) =>
      identity.isLive(slot) ? hasBit(runToCompletion(leadersTask(rows, todayMs)), slot) : undefined,
  }
}

function deputiesOf(unit: number, { tables: { orgUnit } }: RowSnapshot): readonly number[] {
  const deputies = orgUnit.column('deputies')
  const code = deputies.codeAt(unit)
  return code === 0 || deputies.values.kind !== 'list' ? [] : deputies.values.elementCodesOf(code)
}

/** The units by the identity that leads them. Found once for each state of the rows. */
function unitsLedValues(rows: RowSnapshot, leadersOf: (unit: number) => readonly number[]): ComputedValues {
  const { identity, orgUnit } = rows.tables
  let revision: object | undefined
  let units = new Map<number, number[]>()
  const unitsOf = (slot: number): readonly number[] => {
    if (revision !== rows.revision) {
      units = runToCompletion(unitsByLeader(rows, leadersOf))
      revision = rows.revision
    }
    return units.get(slot) ?? []
  }
  return {
    valueAt: (slot) => (identity.isLive(slot) && unitsOf(slot).length > 0 ? unitsOf(slot) : undefined),
    contains: (slot, element) =>
      element !== 0 && identity.isLive(slot) && orgUnit.isLive(element) && leadersOf(element).includes(slot),
  }
}

function* unitsByLeader(
  rows: RowSnapshot,
  leadersOf: (unit: number) => readonly number[],
): Task<Map<number, number[]>> {
  const { orgUnit } = rows.tables
  const units = new Map<number, number[]>()
  for (let unit = 1; unit < orgUnit.slotCount; unit += 1) {
    if (!orgUnit.isLive(unit)) continue
    for (const leader of leadersOf(unit)) {
      if (leader === 0) continue
      const known = units.get(leader)
      if (known === undefined) units.set(leader, [unit])
      else known.push(unit)
    }
    yield
  }
  return units
}
