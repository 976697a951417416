import { byName, type Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { freshOrgChart, type OrgChartSource, type Person, type RequestDependencies } from './request-dependencies.ts'

type OwnCollectionDependencies = OrgChartSource & Pick<RequestDependencies, 'collections' | 'membershipResolver'>

/**
 * Lists the collections of both kinds that the person is a member of, as an identity or by one of their positions, by
 * name. Evaluates criteria collections now. Collections of org units have no persons.
 */
export async function ownCollections(person: Person, deps: OwnCollectionDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [orgChart, collections] = await Promise.all([freshOrgChart(tenantId, deps), deps.collections.list(tenantId)])
  const ofPeople = collections.filter(({ objectType }) => objectType !== 'OrgUnit')
  const ids = ofPeople.map(({ id }) => id)
  const memberOf = await deps.membershipResolver.collectionsOf(tenantId, identityId, ids, orgChart)
  return ofPeople.filter(({ id }) => memberOf.has(id)).sort(byName)
}

/** Lists the joinable collections that the person is a member of, by name. */
export async function memberOf(
  { tenantId, identityId }: Person,
  deps: Pick<CollectionDependencies, 'joined' | 'collections'>,
): Promise<Collection[]> {
  const memberships = await deps.joined.ofIdentity(tenantId, identityId)
  const collections = await deps.collections.existing(tenantId, [...memberships.keys()])
  return collections.toSorted(byName)
}
