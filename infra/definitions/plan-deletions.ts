import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'
import type { ApiCall } from '../import/api-connection.ts'
import { orderCollections } from './collection-order.ts'
import type { FileFault } from './definition-file.ts'
import { replaceReferences } from './references.ts'
import type { Planned, Step } from './step.ts'
import { COLLECTIONS, type CollectionRecord, recordOf, type Tenant } from './tenant.ts'
import { normalisedDefinition, referredIds, type WantedCollection } from './wanted.ts'

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
  await forEachConcurrent([...surplus.values()], CALLS_AT_ONCE_COUNT, async ({ id, kind, name }) => {
    const path = `${COLLECTIONS[kind]}/${id}`
    const [{ data: dto, etag }, { data }] = await Promise.all([call('GET', path), call('GET', `${path}/results`)])
    const memberCount = (data as { memberIds: unknown[] }).memberIds.length
    const step = { kind, name, file: undefined, path } as const
    const record = recordOf(kind, dto as Parameters<typeof recordOf>[1])
    const isReleased = incomplete.has(id) && referredIds(record).some((other) => other !== id && surplus.has(other))
    if (isReleased) releases.set(id, { ...step, ...releaseOf(record, surplus, tenant), etag })
    // A release changes the version.
    const version = isReleased ? {} : { etag }
    deletions.set(id, { ...step, action: 'delete', fields: [], method: 'DELETE', memberCount, ...version })
  })
  const inOrder = order.toReversed()
  // What a released collection refers to is in use until then. All others are deleted before.
  const inUse = new Set(releases.keys())
  for (const id of [...releases.keys(), ...inOrder]) {
    const record = inUse.has(id) ? surplus.get(id) : undefined
    for (const other of record === undefined ? [] : referredIds(record)) inUse.add(other)
  }
  const stepsOf = (steps: ReadonlyMap<string, Step>, ids = inOrder) => ids.flatMap((id) => steps.get(id) ?? [])
  const [first, last] = [inOrder.filter((id) => !inUse.has(id)), inOrder.filter((id) => inUse.has(id))]
  return { steps: [...stepsOf(deletions, first), ...stepsOf(releases), ...stepsOf(deletions, last)], faults: [] }
}

/**
 * Lets a joinable collection refer to itself in place of the others that are deleted, which does not keep it from being
 * deleted. No approval of the former gates counts for the changed ones, and only its own members become eligible.
 */
function releaseOf(
  { id, kind, objectType, definition }: CollectionRecord,
  surplus: ReadonlyMap<string, unknown>,
  { schema }: Tenant,
): Pick<Step, 'action' | 'fields' | 'method' | 'body' | 'note'> {
  const own = replaceReferences(definition, (other) => (surplus.has(String(other)) ? id : other)) as JsonObject
  return {
    action: 'update',
    fields: ['joinPolicy'],
    method: 'PUT',
    body: { objectType, joinPolicy: normalisedDefinition(kind, own, schema, objectType).definition },
    note: 'refers to itself in place of the collections that are deleted, until it is deleted',
  }
}
