import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, characterCount, Described, Guid, Nullable } from '../../kernel/schema.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { CoreObject } from '../core/core-object.ts'
import type { CoreObjectReader } from '../core/core-object-store.ts'
import { foldedText } from '../core/search-text.ts'
import { hasFullAccess } from '../object-access/object-access.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'

const NameNow = Nullable(Type.String())

/** A person with what distinguishes people of one name. */
export const FoundPerson = Closed({
  identityId: Guid,
  displayName: NameNow,
  title: Described(NameNow, 'The title of the main position; null without one.'),
  orgUnitName: Described(NameNow, 'The name of the unit of the main position; null without one.'),
  email: NameNow,
  hasAccount: Described(Type.Boolean(), 'Whether the identity has a directory account.'),
})
export type FoundPerson = Static<typeof FoundPerson>

export type FindPeopleDependencies = Pick<CollectionDependencies, 'snapshots' | 'nowMs'> & {
  readonly coreObjects: Pick<CoreObjectReader, 'search'>
}

const TEXT_LIMIT_COUNT = 200
const FOUND_LIMIT_COUNT = 100

/** Who asks, and whether a part of a name or address suffices. */
type Asker = { readonly caller: Caller; readonly seesAll: boolean }

/**
 * At most 100 people by name or address, by name.
 * @throws Refusal `InvalidLength` for an empty text or one with too many characters.
 */
export async function findPeople(
  text: string,
  { caller, seesAll }: Asker,
  { coreObjects, snapshots, nowMs }: FindPeopleDependencies,
): Promise<FoundPerson[]> {
  const trimmed = text.trim()
  if (trimmed === '' || characterCount(trimmed) > TEXT_LIMIT_COUNT) {
    throw new Refusal('InvalidLength', `text must have 1 to ${TEXT_LIMIT_COUNT} characters`, 'text')
  }
  const { tenantId } = caller
  const [found, rows] = await Promise.all([
    coreObjects.search(tenantId, 'identity', trimmed, undefined, FOUND_LIMIT_COUNT),
    snapshots.fresh(tenantId),
  ])
  const orgChart = new OrgChart(rows, nowMs())
  const isFound = hasFullAccess(caller) ? () => true : matcher(foldedText(trimmed), seesAll)
  return found.filter(isFound).map((identity) => toFoundPerson(identity, orgChart))
}

const NAMES = ['displayName', 'email', 'directoryUserPrincipalName'] as const

/** A search also finds the holder of a national identity number, which not everybody may ask for. */
function matcher(wanted: string, isPart: boolean): (identity: CoreObject) => boolean {
  return ({ attributes }) =>
    NAMES.some((name) => {
      const value = foldedText(textIn(attributes[name]) ?? '')
      return isPart ? value.includes(wanted) : value === wanted
    })
}

function toFoundPerson({ id, attributes }: CoreObject, orgChart: OrgChart): FoundPerson {
  const positionId = orgChart.mainPositionOf(id)
  const unitId = positionId === undefined ? undefined : orgChart.unitOf(positionId)
  const { rows } = orgChart
  return {
    identityId: id,
    displayName: textIn(attributes.displayName) ?? null,
    title: positionId === undefined ? null : (rows.textOf('relationship', 'title', positionId) ?? null),
    orgUnitName: unitId === undefined ? null : (rows.textOf('orgUnit', 'displayName', unitId) ?? null),
    email: textIn(attributes.email) ?? null,
    hasAccount: attributes.directoryObjectId !== undefined,
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
