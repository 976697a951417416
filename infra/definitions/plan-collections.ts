import { isDeepStrictEqual } from 'node:util'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import { forEachConcurrent } from '../../shared/kernel/concurrency.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { type ApiCall, ApiRefusal } from '../import/api-connection.ts'
import { connectedGroups, orderCollections } from './collection-order.ts'
import type { FileFault } from './definition-file.ts'
import type { Planned, Step } from './step.ts'
import { COLLECTIONS, type CollectionRecord, DEFINITION_MEMBER, recordOf, type Tenant } from './tenant.ts'
import { isSameDefinition, normalisedDefinition, referredIds, type WantedCollection } from './wanted.ts'

/** Requests that run at the same time. */
const CALLS_AT_ONCE_COUNT = 4

/** Creations and updates of collections, each after those that it depends on. */
export async function planCollections(
  wanted: readonly WantedCollection[],
  tenant: Tenant,
  call: ApiCall,
): Promise<Planned> {
  const changed = wanted.filter(
    (collection) => collection.record === undefined || changedFields(collection, collection.record, tenant).length > 0,
  )
  const { order, incomplete, circle } = orderCollections(
    changed.map((collection) => ({
      ...collection,
      isNew: collection.record === undefined,
      refersTo: referredIds(collection),
    })),
    unchangedIn(tenant, changed),
  )
  const inCircle = changed.find(({ name }) => circle?.includes(name))
  if (circle !== undefined && inCircle !== undefined) {
    const message = `The collections refer to each other: ${circle.join(' -> ')}`
    return { steps: [], faults: [inCircle.file.fault('/condition', message)] }
  }
  const groupOf = connectedGroups([
    ...tenant.collections.map(({ id, definition }) => [id, referredIds({ definition })] as const),
    ...wanted.map((collection) => [collection.id, referredIds(collection)] as const),
  ])
  const newIds = new Set(changed.filter(({ record }) => record === undefined).map(({ id }) => id))
  const planned = new Map<string, Planned>()
  await forEachConcurrent(changed, CALLS_AT_ONCE_COUNT, async (collection) => {
    const refersToNew = referredIds(collection).some((id) => newIds.has(id))
    const plan = await (collection.record === undefined
      ? planCreation(collection, { refersToNew, isIncomplete: incomplete.has(collection.id), groupOf }, call)
      : planUpdate(collection, collection.record, { refersToNew, groupOf }, tenant, call))
    planned.set(collection.id, plan)
  })
  const inOrder = [...order, ...incomplete].map((id, index) => {
    const plan = planned.get(id)
    // The steps of an incomplete collection: its creation, and what completes it after all others.
    const [first, ...rest] = plan?.steps ?? []
    if (!incomplete.has(id)) return plan?.steps ?? []
    return index < order.length ? (first === undefined ? [] : [first]) : rest
  })
  const faults = [...planned.values()].flatMap((plan) => plan.faults)
  return { steps: inOrder.flat(), faults }
}

function unchangedIn({ collections }: Tenant, changed: readonly WantedCollection[]) {
  const ids = new Set(changed.map(({ id }) => id))
  const unchanged = collections.filter(({ id }) => !ids.has(id))
  return unchanged.map((record) => ({ ...record, isNew: false, refersTo: referredIds(record) }))
}

/** The members of a collection that a file wants to change. */
function changedFields(wanted: WantedCollection, record: CollectionRecord, { schema }: Tenant): string[] {
  const { kind, objectType, definition } = record
  const stored = normalisedDefinition(kind, definition, schema, objectType).definition
  return [
    ...((wanted.description ?? '') === (record.description ?? '') ? [] : ['description']),
    ...(isDeepStrictEqual(wanted.metadata, record.metadata) ? [] : ['metadata']),
    ...(isSameDefinition(kind, wanted.definition, stored) ? [] : [DEFINITION_MEMBER[kind]]),
  ]
}

/** The body with all members, or with some. */
function bodyOf(wanted: WantedCollection, fields: readonly string[]): JsonObject {
  const { objectType, name, kind } = wanted
  const members: JsonObject = {
    description: wanted.description ?? '',
    metadata: wanted.metadata as Json,
    [DEFINITION_MEMBER[kind]]: wanted.definition,
  }
  return { objectType, name, ...Object.fromEntries(fields.map((field) => [field, members[field] ?? null])) }
}

/** Requests wait for the manager until the policy is complete. */
const INCOMPLETE_POLICY: JsonObject = {
  approvalRequired: true,
  approvalGates: [{ order: 1, type: 'Manager' }],
}

async function planCreation(
  wanted: WantedCollection,
  at: { refersToNew: boolean; isIncomplete: boolean; groupOf: (id: string) => string },
  call: ApiCall,
): Promise<Planned> {
  const { kind, name, file, id, description, metadata } = wanted
  if (at.refersToNew && wanted.definitionFaults.length > 0) return { steps: [], faults: wanted.definitionFaults }
  if (kind === 'joinable' && wanted.definitionFaults.length > 0) return { steps: [], faults: wanted.definitionFaults }
  const hasMetadata = metadata.tags.length > 0 || Object.keys(metadata.attributes).length > 0
  const fields = [...(description ? ['description'] : []), ...(hasMetadata ? ['metadata'] : [])]
  const body = bodyOf(wanted, [...fields, DEFINITION_MEMBER[kind]])
  const common = { kind, name, file, fields: [], group: at.groupOf(id) } as const
  const create = { ...common, action: 'create', method: 'POST', path: COLLECTIONS[kind], creates: id } as const
  if (at.isIncomplete) {
    const completion: Step = {
      ...common,
      action: 'update',
      fields: ['joinPolicy'],
      method: 'PUT',
      path: `${COLLECTIONS[kind]}/${id}`,
      body: { objectType: wanted.objectType, joinPolicy: wanted.definition },
      note: 'completes the policy, which refers to collections that refer to this one',
    }
    const note = 'with approval by the manager until its policy is complete'
    return { steps: [{ ...create, body: { ...body, joinPolicy: INCOMPLETE_POLICY }, note }, completion], faults: [] }
  }
  if (kind === 'joinable') return { steps: [{ ...create, body }], faults: [] }
  const withPlan: Step = { ...create, body, planPath: `${COLLECTIONS.criteria}/plan` }
  if (at.refersToNew) return { steps: [withPlan], faults: [] }
  const { effect, faults } = await effectOf(`${COLLECTIONS.criteria}/plan`, body, undefined, wanted, call)
  return { steps: faults.length > 0 ? [] : [{ ...withPlan, effect }], faults }
}

async function planUpdate(
  wanted: WantedCollection,
  listed: CollectionRecord,
  at: { refersToNew: boolean; groupOf: (id: string) => string },
  tenant: Tenant,
  call: ApiCall,
): Promise<Planned> {
  const { kind, name, file, id } = wanted
  const path = `${COLLECTIONS[kind]}/${listed.id}`
  const { data, etag } = await call('GET', path)
  const record = recordOf(kind, data as Parameters<typeof recordOf>[1])
  const fields = changedFields(wanted, record, tenant)
  const isRedefined = fields.includes(DEFINITION_MEMBER[kind])
  if (isRedefined && wanted.definitionFaults.length > 0 && (kind === 'joinable' || at.refersToNew)) {
    return { steps: [], faults: wanted.definitionFaults }
  }
  const body = bodyOf(wanted, fields)
  const step: Step = { action: 'update', kind, name, file, fields, method: 'PUT', path, body, etag }
  if (kind === 'joinable' || !isRedefined) return { steps: [{ ...step, group: at.groupOf(id) }], faults: [] }
  const withPlan = { ...step, group: at.groupOf(id), planPath: `${path}/plan` }
  if (at.refersToNew) return { steps: [withPlan], faults: [] }
  const { effect, faults } = await effectOf(withPlan.planPath, body, etag, wanted, call)
  return { steps: faults.length > 0 ? [] : [{ ...withPlan, effect }], faults }
}

type Effect = { readonly effect: ChangePlan | undefined; readonly faults: readonly FileFault[] }

async function effectOf(
  path: string,
  body: JsonObject,
  etag: string | undefined,
  { file }: WantedCollection,
  call: ApiCall,
): Promise<Effect> {
  try {
    const { data } = await call('POST', path, body, etag === undefined ? {} : { 'if-match': etag })
    return { effect: data as ChangePlan, faults: [] }
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status >= 500 || error.errors.length === 0) throw error
    // The circle may be gone when the changes before this one are made.
    if (error.errors.every(({ code }) => code === 'CircularReference')) return { effect: undefined, faults: [] }
    return { effect: undefined, faults: error.errors.map(({ target = '', message }) => file.fault(target, message)) }
  }
}
