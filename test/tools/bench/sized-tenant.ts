import { cosmosCollectionStore } from '../../../shared/cosmos/collections/collection-store.ts'
import type { ContainerId } from '../../../shared/cosmos/containers.ts'
import { cosmosCoreObjectStore } from '../../../shared/cosmos/core/core-object-store.ts'
import type { openDatabase } from '../../../shared/cosmos/database.ts'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { cosmosMembershipStore } from '../../../shared/cosmos/members/membership-store.ts'
import { cosmosRequestStore } from '../../../shared/cosmos/requests/request-store.ts'
import type { Collection, CollectionKind } from '../../../shared/domain/collections/collection.ts'
import type { EvaluatedMembers } from '../../../shared/domain/collections/membership-store.ts'
import { type MembershipRequest, slotOf } from '../../../shared/domain/membership-requests/membership-request.ts'
import { idOf, loadSizedObjects } from './sized-objects.ts'

/** A tenant as large as any that the service should answer evenly: what the routes are measured on. */
export const TENANT_ID = derivedId('tenant', 'sized')
export const SIZES = { identity: 200_000, orgUnit: 2_000, relationship: 10_000 }
const COLLECTIONS_COUNT = 10_000
const REQUESTS_COUNT = 10_000
const MEMBERS_COUNT = 200_000
const WRITES_AT_ONCE_COUNT = 16
const CREATED_AT = '2026-01-05T08:00:00.000+00:00'

/** Every unit has the identity of its own number as manager; this one leads no unit, and has a position. */
export const EMPLOYEE_INDEX = 5_000
/** Leads the whole tree. */
export const TOP_MANAGER_INDEX = 0
/** Leads one unit, which has no unit below it. */
export const UNIT_MANAGER_INDEX = SIZES.orgUnit - 1

/** Has all the members. */
export const LARGEST_CRITERIA_ID = idOf('collection', 0)
/** Has all the requests. */
export const LARGEST_JOINABLE_ID = idOf('collection', 1)

type Database = ReturnType<typeof openDatabase>

/** Writes the tenant by the stores: quicker than by the API, and nothing is evaluated meanwhile. */
export async function loadSizedTenant(database: (id: ContainerId) => ReturnType<Database>): Promise<void> {
  await loadSizedObjects(TENANT_ID, SIZES, cosmosCoreObjectStore(database('coreObjects')))
  const collections = cosmosCollectionStore(database('collections'))
  const indexes = Array.from({ length: COLLECTIONS_COUNT }, (_, index) => index)
  await inTurns(indexes, (index) => collections.add(collectionNumber(index), undefined))
  const ids = Array.from({ length: MEMBERS_COUNT }, (_, index) => idOf('identity', index)).sort()
  const evaluation: EvaluatedMembers = {
    ids,
    definitionKey: '1',
    evaluatedAtMs: Date.parse(CREATED_AT),
    epoch: 1,
    unfencedEpoch: 0,
    attribute: async (change) => [{ cause: 'DefinitionChanged', actorId: idOf('identity', 1), ...change }],
  }
  const options = { historyDays: 400, nowMs: () => Date.now() }
  await cosmosMembershipStore(database('members'), options).replace(
    TENANT_ID,
    LARGEST_CRITERIA_ID,
    undefined,
    evaluation,
  )
  const requests = cosmosRequestStore(database('requests'), options)
  const all = Array.from({ length: REQUESTS_COUNT }, (_, index) => ({ after: requestNumber(index) }))
  for (const part of requests.batches(all)) await requests.save(part)
}

async function inTurns<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  const next = items.values()
  const work = async () => {
    for (const item of next) await run(item)
  }
  await Promise.all(Array.from({ length: WRITES_AT_ONCE_COUNT }, work))
}

function collectionNumber(index: number): Collection {
  const kind: CollectionKind = index % 2 === 0 ? 'criteria' : 'joinable'
  return {
    id: idOf('collection', index),
    tenantId: TENANT_ID,
    kind,
    objectType: index % 3 === 0 ? 'Relationship' : 'Identity',
    name: `Collection ${index}`,
    description: 'One of very many, with a sentence about it',
    definition: kind === 'criteria' ? { groupOperator: 'AND', conditions: [personLeaf(index)] } : policyNumber(index),
    definitionVersion: 1,
    definedBy: idOf('identity', 1),
    metadata: { tags: [`tag ${index % 20}`, `rare ${index % 2000}`], attributes: { owner: `team ${index % 100}` } },
    refersTo: [],
    createdBy: idOf('identity', 1),
    createdAtMs: Date.parse(CREATED_AT),
    updatedAtMs: Date.parse(CREATED_AT),
  }
}

const personLeaf = (index: number) => ({
  id: 'identityDisplayName',
  field: 'identityDisplayName',
  operator: 'StartsWith',
  value: `Person ${index}`,
})

const policyNumber = (index: number) => ({
  approvalRequired: true,
  approvalGates: [
    { order: 1, type: 'Identity', approvers: [idOf('identity', index)] },
    { order: 2, type: 'Manager', approvers: [] },
  ],
  joinableBy: { collectionIds: [] },
})

/** Of each ten: five joined, two wait for the approver, three for the manager. */
function requestNumber(index: number): MembershipRequest {
  const requesterId = idOf('identity', index)
  const relationshipId = idOf('relationship', index)
  const share = index % 10
  const gate = share < 7 ? ({ order: 1, type: 'Identity' } as const) : ({ order: 2, type: 'Manager' } as const)
  return {
    id: idOf('request', index),
    tenantId: TENANT_ID,
    collectionId: LARGEST_JOINABLE_ID,
    slot: slotOf({ id: LARGEST_JOINABLE_ID, objectType: 'Identity' }, requesterId, relationshipId),
    requesterId,
    submittedBy: requesterId,
    relationshipId,
    status: share < 5 ? 'Joined' : 'PendingApproval',
    currentGate: share < 5 ? null : { ...gate, approverCount: 1 },
    notes: null,
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    lifecycle: [
      { status: 'Requested', actorId: requesterId, at: CREATED_AT },
      { status: 'PendingApproval', actorId: 'system', at: CREATED_AT, gate },
    ],
  }
}
