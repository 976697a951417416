import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { cosmosAccountMoves } from '../../shared/cosmos/account-moves.ts'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectStore, cosmosFormerCoreObjects } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosEvaluationLogStore } from '../../shared/cosmos/evaluation-log-store.ts'
import { cosmosJobStore } from '../../shared/cosmos/job-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import { cosmosLinkStore } from '../../shared/cosmos/link-store.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/request-store.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenant-store.ts'
import type { Caller } from '../../shared/domain/caller.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { TenantEvaluator } from '../../shared/domain/collections/evaluate-tenant.ts'
import type { JoinedMembers } from '../../shared/domain/collections/joined-members.ts'
import { linkedAccounts } from '../../shared/domain/collections/linked-accounts.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { TenantSnapshots } from '../../shared/domain/collections/tenant-snapshots.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/batch-item.ts'
import { type Connector, newConnector } from '../../shared/domain/connectors/connector.ts'
import { connectorObjectId, type ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { Doorbells } from '../../shared/domain/doorbell.ts'
import { collectionLinks } from '../../shared/domain/links/collection-links.ts'
import { createLink } from '../../shared/domain/links/create-link.ts'
import type { SyncDependencies } from '../../shared/domain/links/link-dependencies.ts'
import { addMembers, removeMembers } from '../../shared/domain/requests/direct-members.ts'
import { RequestFollower } from '../../shared/domain/requests/follow-changes.ts'
import { createJoinableCollection } from '../../shared/domain/requests/manage-joinable.ts'
import type { RequestDependencies } from '../../shared/domain/requests/request-dependencies.ts'
import { liveStanding } from '../../shared/domain/requests/standing.ts'
import { TENANT } from './link-directory.ts'
import { openWorld } from './link-world.ts'

const CALLER: Caller = {
  kind: 'application',
  tenantId: TENANT,
  objectId: randomUUID(),
  clientId: undefined,
  roles: new Set(),
}

type ProcessParts = {
  readonly container: (id: ContainerId) => Container
  readonly doorbells: Doorbells
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
    doorbells: deps.doorbells,
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

  /** The same through another client of the database. */
  const writeThrough = ({ container, doorbells }: ProcessParts, source: Connector, ...writes: ObjectWrite[]) => {
    const stores = {
      connectors: cosmosConnectorStore(container('connectors')),
      objects: cosmosConnectorObjectStore(container('connectorObjects')),
      coreObjects: cosmosCoreObjectStore(container('coreObjects')),
    }
    return writeObjects(TENANT, source, writes, { ...writing, ...stores, doorbells })
  }

  /**
   * A process as it starts. It gets its evaluations by hand, and all other messages by `drain`.
   * @param joined How it reads the members of joinable collections.
   * @param instance Its own client of the database, and what it sends.
   */
  function coldProcess(
    joined?: JoinedMembers,
    { container, doorbells }: ProcessParts = { container: world.container, doorbells: world.deps.doorbells },
  ) {
    const stores = {
      links: cosmosLinkStore(container('links')),
      jobs: cosmosJobStore(container('jobs')),
      tenants: cosmosTenantStore(container('tenants')),
    }
    const collections: CollectionDependencies = {
      collections: cosmosCollectionStore(container('collections')),
      memberships: cosmosMembershipStore(container('members')),
      evaluationLog: cosmosEvaluationLogStore(container('tenants')),
      joined: joined ?? cosmosJoinedMembers(container('requests')),
      snapshots: new TenantSnapshots(
        cosmosCoreObjectChanges(container('coreObjects'), () => performance.now()),
        1_000_000,
      ),
      accountMoves: cosmosAccountMoves(container('coreObjects')),
      links: collectionLinks(stores.links, clock.nowMs),
      tenants: stores.tenants,
      doorbells,
      log: deps.log,
      measures: deps.measures,
      newId: randomUUID,
      nowMs: clock.nowMs,
    }
    const requests: RequestDependencies = {
      ...collections,
      requests: cosmosRequestStore(container('requests')),
      standing: liveStanding(collections),
    }
    const evaluator = new TenantEvaluator({ ...collections, follower: new RequestFollower(requests) })
    const formerObjects = cosmosFormerCoreObjects(container('coreObjects'))
    const sync: SyncDependencies = {
      ...deps,
      ...stores,
      doorbells,
      collections: linkedAccounts({ ...collections, formerObjects }, evaluator),
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
    await addMembers(TENANT, collectionId, { coreIdentityIds: [...identityIds] }, actor, requests)
  }

  /** Ends all memberships of these people. */
  async function leave(collectionId: string, identityIds: readonly string[]): Promise<void> {
    const actor = { id: CALLER.objectId, identityId: undefined }
    await removeMembers(TENANT, collectionId, { coreIdentityIds: [...identityIds] }, actor, coldProcess().requests)
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
    writeThrough,
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
