import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import type { ApiCall } from '../import/api-connection.ts'
import { orderCollections } from './collection-order.ts'
import type { FileFault } from './definition-file.ts'
import type { Planned, Step } from './step.ts'
import { COLLECTIONS, type CollectionRecord, type Tenant } from './tenant.ts'
import { referredIds, type WantedCollection } from './wanted.ts'

/** Requests that run at the same time. */
const CALLS_AT_ONCE_COUNT = 4

/** Deletions of the collections that no file defines, each before those that it refers to. */
export async function planDeletions(
  wanted: readonly WantedCollection[],
  tenant: Tenant,
  call: ApiCall,
): Promise<Planned> {
  const kept = new Set(wanted.map(({ id }) => id))
  const surplus = new Map(tenant.collections.filter(({ id }) => !kept.has(id)).map((record) => [record.id, record]))
  const faults = wanted.flatMap((collection): FileFault[] =>
    referredIds(collection)
      .flatMap((id) => surplus.get(id) ?? [])
      .map(({ name }) =>
        collection.file.fault('/name', `The collection refers to ${name}, which --prune would delete`),
      ),
  )
  if (faults.length > 0) return { steps: [], faults }
  const { order, incomplete } = orderCollections(
    [...surplus.values()].map((record) => ({ ...record, isNew: true, refersTo: referredIds(record) })),
  )
  const [deletions, releases] = [new Map<string, Step>(), new Map<string, Step>()]
  await forEachConcurrent([...surplus.values()], CALLS_AT_ONCE_COUNT, async (record) => {
    const { id, kind, name } = record
    const path = `${COLLECTIONS[kind]}/${id}`
    const [{ etag }, { data }] = await Promise.all([call('GET', path), call('GET', `${path}/results`)])
    const memberCount = (data as { memberIds: unknown[] }).memberIds.length
    const step = { kind, name, file: undefined, path } as const
    const isReleased = incomplete.has(id)
    if (isReleased) releases.set(id, releaseOf(record, etag))
    // A release changes the version.
    const version = isReleased ? {} : { etag }
    deletions.set(id, { ...step, action: 'delete', fields: [], method: 'DELETE', memberCount, ...version })
  })
  const inOrder = order.toReversed().flatMap((id) => deletions.get(id) ?? [])
  return { steps: [...releases.values(), ...inOrder], faults: [] }
}

/** Removes the references of a joinable collection that refers to itself over others: a collection in use is not deleted. */
function releaseOf({ id, kind, name, objectType }: CollectionRecord, etag: string | undefined): Step {
  const joinPolicy = {
    approvalRequired: true,
    approvalGates: [{ order: 1, type: 'Manager' }],
    joinableBy: { collectionIds: [] },
  }
  return {
    action: 'update',
    kind,
    name,
    file: undefined,
    fields: ['joinPolicy'],
    method: 'PUT',
    path: `${COLLECTIONS[kind]}/${id}`,
    body: { objectType, joinPolicy },
    etag,
    note: 'releases the collections that it refers to, before it is deleted',
  }
}
