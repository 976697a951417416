import { CONNECTORS_PATH, differences, keepCoreId, type Organisation } from './organisation.ts'
import {
  isReference,
  type ObjectData,
  type ObjectKind,
  type PeopleModel,
  referredId,
  SOURCE_NAMES,
} from './people-model.ts'

type CoreRecord = ObjectData & { readonly id: string; readonly externalId: string }
type SourceRecord = {
  readonly externalId: string
  readonly objectType: ObjectKind
  readonly data: ObjectData
  readonly coreObjectId: string
}

const CORE_PATH = '/iamcore/beta/sync/coreobjects'
/** Members of a record that the service sets itself. */
const OWN_MEMBERS = ['id', 'externalId', 'joinScope', 'lastUpdated']

/** The ids of core objects, both ways. External ids are unique among the objects of a run. */
export type CoreNames = {
  readonly externalIdOf: ReadonlyMap<string, string>
  readonly ninOf: ReadonlyMap<string, string>
}

/** Compares the core objects and the data of the connectors with the model. */
export async function comparePeople(organisation: Organisation): Promise<{ faults: string[]; names: CoreNames }> {
  const { api, callers, model } = organisation
  const [identities, orgUnits, relationships] = (await Promise.all(
    ['identities', 'orgunits', 'relationships'].map((list) =>
      api.list<CoreRecord>(callers.operator, `${CORE_PATH}/${list}`),
    ),
  )) as [CoreRecord[], CoreRecord[], CoreRecord[]]
  const all = [...identities, ...orgUnits, ...relationships]
  const externalIdOf = new Map(all.map(({ id, externalId }) => [id, externalId]))
  const names = { externalIdOf, ninOf: new Map(identities.map((each) => [each.id, numberOf(each)])) }
  const expectedIdentities = [...model.people.identities().values()].map(
    ({ externalId, attributes }) => [externalId, attributes] as const,
  )
  const faults = [
    ...repeated('core object', all),
    ...differences('Identity', new Map(expectedIdentities), readable(identities, externalIdOf)),
    ...differences('Org unit', merged(model.people, 'orgUnit'), readable(orgUnits, externalIdOf)),
    ...differences('Relationship', merged(model.people, 'relationship'), readable(relationships, externalIdOf)),
    ...compareCoreIds(organisation, identities),
    ...(await compareSources(organisation)),
  ]
  return { faults, names }
}

/** The objects as they must be. A reference to a manager who is not there is left out until the manager arrives. */
function merged(people: PeopleModel, kind: 'orgUnit' | 'relationship'): Map<string, ObjectData> {
  const isKept = ([name, value]: [string, unknown]) =>
    name !== 'manager' || people.find('hr', 'identity', referredId(value)) !== undefined
  const objects = [...people.objects('hr', kind)]
  return new Map(objects.map(([id, data]) => [id, Object.fromEntries(Object.entries(data).filter(isKept))]))
}

/** The attributes by external id, with references as the sources send them. */
function readable(records: readonly CoreRecord[], externalIdOf: ReadonlyMap<string, string>): Map<string, ObjectData> {
  return new Map(
    records.map((record) => {
      const attributes = Object.entries(record).flatMap(([name, value]) => {
        if (OWN_MEMBERS.includes(name)) return []
        if (!isReference(name)) return [[name, value]]
        const { objectId } = value as { objectId: string }
        return [[name, { externalId: externalIdOf.get(objectId) ?? `unknown ${objectId}` }]]
      })
      return [record.externalId, Object.fromEntries(attributes)]
    }),
  )
}

const numberOf = ({ nin, externalId }: CoreRecord): string => String(nin ?? externalId)

/** An identity keeps its id, also when it is deleted and restored. */
function compareCoreIds(organisation: Organisation, identities: readonly CoreRecord[]): string[] {
  const { coreIds, formerCoreIds } = organisation
  return identities.flatMap((identity) => {
    const { id } = identity
    const nin = numberOf(identity)
    const known = coreIds.get(nin)
    keepCoreId(organisation, nin, id)
    // A card that leaves its holder gets another id.
    const isOther = identity.nin === undefined || known === undefined
    const isKept = isOther || known === id || formerCoreIds.get(nin)?.includes(id) === true
    formerCoreIds.delete(nin)
    return isKept ? [] : [`The identity with the number ${nin} had the id ${known} and has the id ${id}`]
  })
}

async function compareSources(organisation: Organisation): Promise<string[]> {
  const { api, callers, model, connectorIds } = organisation
  const faults: string[] = []
  for (const source of SOURCE_NAMES) {
    const path = `${CONNECTORS_PATH}/${connectorIds[source]}/data`
    const records = await api.list<SourceRecord>(callers.connector, path)
    faults.push(...repeated(`object of ${source}`, records))
    for (const kind of ['identity', 'orgUnit', 'relationship'] as const) {
      const found = records.filter(({ objectType }) => objectType === kind)
      const data = new Map(found.map((record) => [record.externalId, record.data]))
      faults.push(...differences(`${kind} of ${source}`, model.people.objects(source, kind), data))
    }
  }
  return faults
}

function repeated(what: string, records: readonly { readonly externalId: string }[]): string[] {
  const seen = new Set<string>()
  return records.flatMap(({ externalId }) => {
    const isNew = !seen.has(externalId)
    seen.add(externalId)
    return isNew ? [] : [`The ${what} ${externalId} is there twice`]
  })
}
