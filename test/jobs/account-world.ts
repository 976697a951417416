import { randomUUID } from 'node:crypto'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosAccountChangeStore, cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectStore, cosmosDeletedCoreObjects } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/evaluation-lease-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/request-store.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { JoinedMembers } from '../../shared/domain/collections/membership-store.ts'
import { TenantEvaluator } from '../../shared/domain/collections/tenant-evaluator.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/batch-item.ts'
import { type Connector, newConnector } from '../../shared/domain/connectors/connector.ts'
import { connectorObjectId, type ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { collectionLinks } from '../../shared/domain/group-links/collection-links.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import type { SyncDependencies } from '../../shared/domain/group-links/link-dependencies.ts'
import { linkedAccounts } from '../../shared/domain/group-links/linked-accounts.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../shared/domain/membership-requests/manage-joinable.ts'
import { liveMembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { TENANT } from './link-directory.ts'
import { openWorld } from './link-world.ts'

const CALLER: Caller = {
  kind: 'application',
  tenantId: TENANT,
  objectId: randomUUID(),
  clientId: undefined,
  roles: new Set(),
}

/** The way from connectors through collections and links to the directory, in processes that know nothing at first. */
export async function openAccountWorld() {
  const world = await openWorld()
  const { container, deps, clock } = world
  const coreObjects = cosmosCoreObjectStore(container('coreObjects'))
  const writing = {
    connectors: cosmosConnectorStore(container('connectors')),
    objects: cosmosConnectorObjectStore(container('connectorObjects')),
    coreObjects,
    messageQueue: deps.messageQueue,
    log: deps.log,
    evaluationDelayMs: 0,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs: clock.nowMs,
  }

  async function newSource(): Promise<Connector> {
    const creation = { id: randomUUID(), createdBy: CALLER.objectId, createdAt: new Date(clock.nowMs()).toISOString() }
    const connector = newConnector({ name: 'A source', clientId: randomUUID() }, creation)
    await writing.connectors.add(TENANT, connector)
    return connector
  }

  const write = (source: Connector, ...writes: ObjectWrite[]) => writeObjects(TENANT, source, writes, writing)

  /**
   * A process as it starts. It gets its evaluations by hand, and all other messages by `drain`.
   * @param joined How it reads the members of joinable collections.
   */
  function coldProcess(joined: JoinedMembers = cosmosJoinedMembers(container('requests'))) {
    const collections: CollectionDependencies = {
      collections: cosmosCollectionStore(container('collections')),
      memberships: cosmosMembershipStore(container('members')),
      evaluationLeases: cosmosEvaluationLeaseStore(container('tenants')),
      joined,
      snapshots: new TenantSnapshots(
        cosmosCoreObjectChanges(container('coreObjects'), () => performance.now()),
        1_000_000,
      ),
      accountChanges: cosmosAccountChangeStore(container('coreObjects')),
      links: collectionLinks(deps.links, clock.nowMs),
      tenants: deps.tenants,
      messageQueue: deps.messageQueue,
      log: deps.log,
      metrics: deps.metrics,
      newId: randomUUID,
      nowMs: clock.nowMs,
    }
    const requests: RequestDependencies = {
      ...collections,
      requests: cosmosRequestStore(container('requests')),
      membershipResolver: liveMembershipResolver(collections),
    }
    const evaluator = new TenantEvaluator({
      ...collections,
      follower: new RequestReconciler(requests),
      sleep: deps.sleep,
    })
    const deletedObjects = cosmosDeletedCoreObjects(container('coreObjects'))
    const sync: SyncDependencies = {
      ...deps,
      collections: linkedAccounts({ ...collections, deletedObjects }, evaluator),
    }
    return { collections, requests, sync, evaluate: () => evaluator.evaluate(TENANT) }
  }

  /** Evaluates in a process that has just started, and delivers all that rings to it. */
  async function followed(process = coldProcess()): Promise<void> {
    await process.evaluate()
    await world.drain(process.sync)
  }

  /** A collection linked to a new group, which has its members by now. */
  async function linkedGroup(collectionId: string): Promise<string> {
    const directoryGroupId = await world.newGroup()
    const process = coldProcess()
    await process.evaluate()
    await createLink(TENANT, { collectionId, directoryGroupId }, process.sync)
    await world.drain(process.sync)
    return directoryGroupId
  }

  async function criteria(objectType: 'Identity' | 'Relationship', field: string, value: string): Promise<string> {
    const conditions = [{ id: field, field, operator: 'Equals', value }]
    const body = { objectType, name: value, condition: { groupOperator: 'AND', conditions } }
    return (await createCriteriaCollection(body, CALLER, coldProcess().collections)).id
  }

  async function joinable(identityIds: readonly string[]): Promise<string> {
    const { requests } = coldProcess()
    const body = { objectType: 'Identity', name: 'Choir', joinPolicy: { approvalRequired: false } } as const
    const { id } = await createJoinableCollection(body, CALLER, requests)
    await join(id, identityIds, requests)
    return id
  }

  async function join(
    collectionId: string,
    identityIds: readonly string[],
    requests: RequestDependencies,
  ): Promise<void> {
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

  /** The core object behind what a source has written. */
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

  return {
    ...world,
    coreObjects,
    newSource,
    write,
    coldProcess,
    followed,
    linkedGroup,
    criteria,
    joinable,
    join,
    leave,
    coreIdOf,
  }
}

export type AccountWorld = Awaited<ReturnType<typeof openAccountWorld>>

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
