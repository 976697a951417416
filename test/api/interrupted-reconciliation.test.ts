import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'

const fixture = await joinableFixture(dispatcher, undefined, startDirectAccount)
const { tenantId, submit, joinable, person, position } = fixture

after(async () => {
  assert.deepEqual(faults, [])
  await fixture.cosmos.close()
})

/** Deleted objects can come back for ten days. */
const RESTORABLE = { ttl: 10 * 24 * 60 * 60 }

/** What happens to a person or to their position. */
type Step = {
  readonly object: 'person' | 'position'
  readonly change: 'deleted' | 'back'
  /** The other instance reconciles after it. Otherwise, it does so at the end. */
  readonly isSeen: boolean
  /** It happens before this call of the instance that is interrupted, from 0, or after the last one. */
  readonly beforeCall: number
}

/** What is done before each call of the instance that is interrupted. */
let beforeCall: () => Promise<void> = async () => {}

/** @returns A pass of an instance of its own over what has changed. */
function instance(isInterrupted: boolean): () => Promise<void> {
  const call = async () => {
    if (isInterrupted) await beforeCall()
  }
  const interrupted = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          await call()
          return Reflect.apply(member, target, args)
        }
      },
    })
  const { deps } = fixture
  const changes = cosmosCoreObjectChanges(fixture.container('coreObjects'), fixture.nowMs)
  const snapshots = new TenantSnapshots(changes, { maxBytes: 10_000_000 })
  const fresh = async (id: string) => {
    await call()
    return snapshots.fresh(id)
  }
  const reconciler = new RequestReconciler({
    ...deps,
    snapshots: Object.assign(Object.create(snapshots), { fresh }),
    // Batches are made without a call.
    requests: new Proxy(interrupted(deps.requests), {
      get: (target, name) => Reflect.get(name === 'batches' ? deps.requests : target, name),
    }),
    collections: interrupted(deps.collections),
    deletedObjects: interrupted(deps.deletedObjects),
  })
  return async () => {
    const rows = await fresh(tenantId)
    await reconciler.reconcile(tenantId, rows, snapshots.takeChanges(tenantId))
  }
}

const [one, other] = [instance(true), instance(false)]
const [choir, ward] = [await joinable(OPEN), await joinable(OPEN, { objectType: 'Relationship' })]
await personWithoutPosition()

/** A membership that can come back, whose position is gone for good. */
async function personWithoutPosition(): Promise<void> {
  const former = await person()
  const relationshipId = await position(former)
  assert.equal((await submit(former, choir, { relationshipId })).status, 201)
  await fixture.remove('identity', former.identityId, RESTORABLE)
  await other()
  await fixture.container('coreObjects').item(relationshipId, tenantId).delete()
}

/** One instance reconciles after the first step. The others happen meanwhile. */
async function run([first, ...others]: readonly Step[]): Promise<void> {
  const employee = await person()
  const { identityId, account } = employee
  const relationshipId = await position(employee)
  for (const id of [choir, ward]) assert.equal((await submit(employee, id, { relationshipId })).status, 201)
  const isThere = { person: true, position: true }

  async function take({ object, change, isSeen }: Pick<Step, 'object' | 'change' | 'isSeen'>): Promise<void> {
    isThere[object] = change === 'back'
    const [type, id] =
      object === 'person' ? (['identity', identityId] as const) : (['relationship', relationshipId] as const)
    if (change === 'deleted') await fixture.remove(type, id, RESTORABLE)
    else if (object === 'person') await fixture.put(type, { displayName: 'Back', directoryObjectId: account }, id)
    else await fixture.put(type, { identity: { objectId: identityId }, title: 'Back' }, id)
    if (isSeen) await other()
  }
  const collectionIds = async () =>
    (await fixture.deps.requests.liveOf(tenantId, identityId)).map(({ value }) => value.collectionId).sort()

  await other()
  await one()
  if (first !== undefined) await take(first)
  let callCount = 0
  beforeCall = async () => {
    const due = others.filter((step) => step.beforeCall === callCount)
    callCount += 1
    for (const step of due) await take(step)
  }
  await one().finally(() => {
    beforeCall = async () => {}
  })
  for (const step of others) if (step.beforeCall >= callCount) await take(step)
  await other()
  const expected = [...(isThere.person ? [choir] : []), ...(isThere.person && isThere.position ? [ward] : [])]
  assert.deepEqual(await collectionIds(), expected.sort())

  for (const object of ['person', 'position'] as const) await take({ object, change: 'back', isSeen: false })
  await other()
  assert.deepEqual(await collectionIds(), [choir, ward].sort())
}

const step: fc.Arbitrary<Step> = fc.record({
  object: fc.constantFrom('person', 'position'),
  change: fc.constantFrom('deleted', 'back'),
  isSeen: fc.boolean(),
  beforeCall: fc.nat(14),
})

/** A position that comes back while its deletion is followed, and its person who is deleted before that is saved. */
const BACK_AND_GONE: readonly Step[] = [
  { object: 'position', change: 'deleted', isSeen: false, beforeCall: 0 },
  { object: 'position', change: 'back', isSeen: false, beforeCall: 4 },
  { object: 'person', change: 'deleted', isSeen: true, beforeCall: 10 },
]

describe('Memberships', () => {
  it('are those of the people and positions that are there, whatever happens between two calls of an instance', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 4, size: 'max' })
    const examples: [Step[]][] = Array.from({ length: 8 }, () => [[...BACK_AND_GONE]])
    const numRuns = Number(process.env.INTERRUPTION_RUNS ?? 100)
    await fc.assert(fc.asyncProperty(steps, run), { examples, numRuns })
  })
})
