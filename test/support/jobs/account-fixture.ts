import { randomUUID } from 'node:crypto'
import type { Overrides, Service } from '../../../functions/app/service.ts'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { deleteCollection } from '../../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection } from '../../../shared/domain/collections/manage-criteria.ts'
import type { JoinedMembers } from '../../../shared/domain/collections/membership-store.ts'
import { type Connector, newConnector } from '../../../shared/domain/connectors/connector.ts'
import { connectorObjectId, type ObjectData } from '../../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../../shared/domain/connectors/write-objects.ts'
import { acquiredLease, releasedLease } from '../../../shared/domain/evaluation/evaluation-lease.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { deleteLink } from '../../../shared/domain/group-links/manage-links.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { JoinDependencies } from '../../../shared/domain/membership-requests/request-dependencies.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { TENANT } from './link-directory.ts'
import { type FixtureOptions, openFixture } from './link-fixture.ts'

export const CALLER: Caller = {
  kind: 'application',
  tenantId: TENANT,
  objectId: randomUUID(),
  clientId: undefined,
  roles: new Set(),
}

/** The whole path from connectors through collections and links to the directory, in processes with empty caches. */
export async function openAccountFixture(options: FixtureOptions = {}) {
  const fixture = await openFixture(options)
  const { clock } = fixture
  const writing = fixture.newService().connectors

  async function newSource(joinOn?: readonly string[]): Promise<Connector> {
    const creation = { id: randomUUID(), createdBy: CALLER.objectId, createdAt: new Date(clock.nowMs()).toISOString() }
    const input = { name: 'A source', clientId: randomUUID(), ...(joinOn && { joinOn: [...joinOn] }) }
    const connector = newConnector(input, creation)
    await writing.connectors.add(TENANT, connector)
    return connector
  }

  const write = (source: Connector, ...writes: ObjectWrite[]) => writeObjects(TENANT, source, writes, writing)
  /** As in a tenant that has no other source. */
  const writeAsOnly = (source: Connector, ...writes: ObjectWrite[]) =>
    writeObjects(TENANT, source, writes, writing, [source])

  /** Writes through another instance of the service. */
  const writeThrough = ({ connectors }: Pick<Service, 'connectors'>, source: Connector, ...writes: ObjectWrite[]) =>
    writeObjects(TENANT, source, writes, connectors)

  /**
   * A process that has just started. The test runs its evaluations; `drain` delivers all other messages.
   * @param joined replaces its reads of the members of joinable collections.
   * @param overrides of the instance, such as its own client of the database.
   */
  function coldProcess(joined?: JoinedMembers, overrides: Overrides = {}) {
    const { collections, requests, links, connectors, evaluator } = fixture.newService(
      joined === undefined ? overrides : { ...overrides, collections: { joined } },
    )
    return { collections, requests, connectors, sync: links, evaluate: () => evaluator.evaluate(TENANT) }
  }

  /** Evaluates in a process that has just started, then delivers all messages to it. */
  async function followed(process = coldProcess()): Promise<void> {
    await process.evaluate()
    await fixture.drain(process.sync)
  }

  /**
   * Another instance begins to evaluate the tenant, and stores nothing before its lease expires.
   * @returns Ends its evaluation before that.
   */
  async function evaluateElsewhere(): Promise<() => Promise<void>> {
    const { evaluationLeases } = coldProcess().collections
    const found = await evaluationLeases.find(TENANT)
    const lease = acquiredLease(found, 'another instance', clock.nowMs())
    if (lease === undefined) throw new Error('The tenant is being evaluated')
    const version = await evaluationLeases.save(TENANT, lease, found?.version)
    return async () => {
      await evaluationLeases.save(TENANT, releasedLease(lease, 'incomplete', clock.nowMs()), version)
    }
  }

  /** Links the collection to a new group and syncs it. Returns the group's id. */
  async function linkedGroup(collectionId: string): Promise<string> {
    const directoryGroupId = await fixture.newGroup()
    const process = coldProcess()
    await process.evaluate()
    await createLink(TENANT, { collectionId, directoryGroupId }, process.sync)
    await fixture.drain(process.sync)
    return directoryGroupId
  }

  async function criteria(
    objectType: 'Identity' | 'Relationship',
    field: string,
    value: string,
    caller: Caller = CALLER,
  ): Promise<string> {
    const conditions = [{ id: field, field, operator: 'Equals', value }]
    const body = { objectType, name: value, condition: { groupOperator: 'AND', conditions } }
    return (await createCriteriaCollection(body, caller, coldProcess().collections)).id
  }

  /** A collection that these people have joined, each at the main position. */
  async function joinable(
    identityIds: readonly string[],
    objectType: 'Identity' | 'Relationship' = 'Identity',
  ): Promise<string> {
    const { requests } = coldProcess()
    const body = { objectType, name: 'Choir', joinPolicy: { approvalRequired: false } } as const
    const { id } = await createJoinableCollection(body, CALLER, requests)
    await join(id, identityIds, requests)
    return id
  }

  async function join(collectionId: string, identityIds: readonly string[], requests: JoinDependencies): Promise<void> {
    const actor = { id: CALLER.objectId, identityId: undefined }
    await addMembersDirectly(TENANT, collectionId, { coreIdentityIds: [...identityIds] }, actor, requests)
  }

  /** Ends all memberships of these people. */
  async function leave(collectionId: string, identityIds: readonly string[]): Promise<void> {
    const actor = { id: CALLER.objectId, identityId: undefined }
    await removeMembersDirectly(
      TENANT,
      collectionId,
      { coreIdentityIds: [...identityIds] },
      actor,
      coldProcess().requests,
    )
  }

  /** Deletes a criteria collection with its links. */
  async function removeLinked(collectionId: string): Promise<void> {
    const { collections, sync } = coldProcess()
    for (const { value } of await sync.links.ofCollection(TENANT, collectionId)) {
      await deleteLink({ tenantId: TENANT, linkId: value.id, ifMatch: undefined }, sync)
    }
    await deleteCollection('criteria', collectionId, undefined, CALLER, collections)
  }

  /** The id of the core object of a connector's object. */
  async function coreIdOf(
    { id: connectorId }: Connector,
    objectType: ObjectWrite['objectType'],
    externalId: string,
  ): Promise<string> {
    const [object] = await writing.objects.ofIds(TENANT, [
      connectorObjectId({ connectorId, objectType, externalId }, derivedId),
    ])
    if (object === undefined) throw new Error(`There is no ${objectType} ${externalId}`)
    return object.value.coreObjectId
  }

  /** The removals that were sent to the directory since the last call of `clearRequests`. */
  const removalsSent = (): number =>
    fixture.server
      .requests()
      .flatMap((request) => [request, ...(request.batch ?? [])])
      .filter(({ method, path }) => method === 'DELETE' && path.includes('/members/')).length

  return {
    removalsSent,
    ...fixture,
    coreObjects: writing.coreObjects,
    newSource,
    write,
    writeAsOnly,
    writeThrough,
    coldProcess,
    followed,
    evaluateElsewhere,
    linkedGroup,
    criteria,
    joinable,
    join,
    leave,
    removeLinked,
    coreIdOf,
  }
}

export type AccountFixture = Awaited<ReturnType<typeof openAccountFixture>>

export const identity = (externalId: string, data: ObjectData): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}
export const position = (externalId: string, holder: string, data: ObjectData = {}): ObjectWrite => {
  const all = { identity: { externalId: holder }, ...data }
  return { operation: 'upsert', objectType: 'relationship', externalId, data: all }
}
export const gone = (objectType: ObjectWrite['objectType'], externalId: string): ObjectWrite => {
  return { operation: 'delete', objectType, externalId }
}
