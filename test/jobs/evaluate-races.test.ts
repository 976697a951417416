import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { MembershipStore } from '../../shared/domain/collections/membership-store.ts'
import { EVALUATION_LEASE_MS } from '../../shared/domain/evaluation/evaluation-lease.ts'
import type { EvaluatedDependencies } from '../../shared/domain/evaluation/tenant-evaluator.ts'
import {
  all,
  CRITERIA,
  type CriteriaProcess,
  criteriaTenant,
  leaf,
  memberOf,
  startCriteriaService,
  startsWith,
} from '../support/api/criteria-service.ts'

const LEASE_EXPIRES_MS = EVALUATION_LEASE_MS + 2 * 60_000

const service = await startCriteriaService({ databaseSharesClock: true })

/**
 * `expire`: let the lease of a running evaluation expire. `write`: give a person a name. `define`: let a collection
 * hold another initial. `evaluate`: begin, in one process.
 */
type Step =
  | { do: 'expire' }
  | { do: 'write'; person: number; initial: string }
  | { do: 'delete'; person: number }
  | { do: 'define'; collection: number; initial: string }
  | { do: 'evaluate'; process: number }
  | { do: 'wait' }

const INITIALS = ['A', 'B', 'C']
const PERSON_COUNT = 4
const COLLECTION_COUNT = 3

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('write' as const),
      person: fc.nat(PERSON_COUNT - 1),
      initial: fc.constantFrom(...INITIALS),
    }),
    fc.record({ do: fc.constant('delete' as const), person: fc.nat(PERSON_COUNT - 1) }),
    fc.record({
      do: fc.constant('define' as const),
      collection: fc.nat(COLLECTION_COUNT - 1),
      initial: fc.constantFrom(...INITIALS),
    }),
    { weight: 3, arbitrary: fc.record({ do: fc.constant('evaluate' as const), process: fc.nat(1) }) },
    fc.record({ do: fc.constant('wait' as const) }),
    fc.record({ do: fc.constant('expire' as const) }),
  ),
  { minLength: 5, maxLength: 25 },
)

/** Runs the steps, evaluations going on beside what follows them until a `wait`, and ends with one evaluation. */
async function run(series: readonly Step[], processes: readonly CriteriaProcess[], last: number): Promise<void> {
  const tenant = criteriaTenant(service)
  const people = await Promise.all(INITIALS.concat('A').map((initial) => tenant.person(initial)))
  const initials: (string | undefined)[] = INITIALS.concat('A')
  const defined = ['A', 'B', 'C']
  const collections = await Promise.all(defined.map((initial) => tenant.create(startsWith(initial))))
  const chained = await Promise.all(collections.map((id) => tenant.create(memberOf(id))))
  const evaluate = (process: number) => processes[process]?.evaluator.evaluate(tenant.tenantId)
  let running: unknown[] = []
  for (const step of series) {
    if (step.do === 'write') {
      initials[step.person] = step.initial
      await tenant.person(step.initial, {}, people[step.person])
    } else if (step.do === 'delete') {
      initials[step.person] = undefined
      await tenant.put('identity', {}, people[step.person], true)
    } else if (step.do === 'define') {
      defined[step.collection] = step.initial
      const body = { objectType: 'Identity', condition: startsWith(step.initial) }
      await tenant.send('PUT', `${CRITERIA}/${collections[step.collection]}`, body)
    } else if (step.do === 'evaluate') running.push(evaluate(step.process))
    else if (step.do === 'expire') service.clock.nowMs += LEASE_EXPIRES_MS
    else {
      await Promise.all(running)
      running = []
    }
  }
  await Promise.all(running)
  await evaluate(last)
  for (const [index, initial] of defined.entries()) {
    const expected = people.filter((_, person) => initials[person] === initial).sort()
    assert.deepEqual(await tenant.members(collections[index] ?? ''), expected)
    assert.deepEqual(await tenant.members(chained[index] ?? ''), expected)
  }
}

describe('two evaluators of one tenant', () => {
  it('do not undo each other in any interleaving of changes, evaluations and expired leases', async () => {
    const processes = [service.newProcess(), service.newProcess()]
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(1), (series, last) => run(series, processes, last)),
      { numRuns: 25 },
    )
  })

  it('evaluate a referring collection with the members that the other one has just written', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const base = await tenant.create(startsWith('A'))
    const referring = await tenant.create(memberOf(base))
    const { memberships } = service.process
    const written: (readonly string[])[] = []
    let hasConflict = false
    const watched: MembershipStore = {
      ...memberships,
      async replace(tenantId, id, previous, evaluation, ...rest) {
        if (id === referring) written.push(evaluation.ids)
        if (id === base && hasConflict) {
          hasConflict = false
          await service.process.evaluator.evaluate(tenantId)
        }
        return memberships.replace(tenantId, id, previous, evaluation, ...rest)
      },
    }
    const { evaluator } = service.newProcess({ memberships: watched })
    await evaluator.evaluate(tenant.tenantId)
    const anders = await tenant.person('Anders')
    // Another row of hers: she is looked at again wherever she could be.
    await tenant.position(ann, undefined)
    hasConflict = true
    await evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(written[0], [ann])
    const both = [ann, anders].sort()
    assert.ok(
      written.slice(1).every((ids) => ids.length === both.length),
      JSON.stringify(written),
    )
    assert.deepEqual(await tenant.members(referring), both)
  })

  it('see one state of the objects in all collections, whatever other requests read meanwhile', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const base = await tenant.create(startsWith('A'))
    const outside = await tenant.create(all(leaf('memberOfCollection', 'NotEquals', base)))
    const { memberships } = service.process
    const written: (readonly string[])[] = []
    const watched: MembershipStore = {
      ...memberships,
      async replace(tenantId, id, previous, evaluation, ...rest) {
        if (id === outside) written.push(evaluation.ids)
        else if (written.length === 0) {
          await tenant.person('Anders')
          await outdated.snapshots.fresh(tenantId)
        }
        return memberships.replace(tenantId, id, previous, evaluation, ...rest)
      },
    }
    const outdated = service.newProcess({ memberships: watched })
    await outdated.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(written, [[]])
    await outdated.evaluator.evaluate(tenant.tenantId)
    assert.equal((await tenant.members(base)).length, 2)
    assert.deepEqual(await tenant.members(outside), [])
  })

  it('remove a member that only the other one has added', async () => {
    const { tenant, person, collection } = await someoneOutside()
    const [first, second] = [service.newProcess().evaluator, service.newProcess().evaluator]
    await first.evaluate(tenant.tenantId)
    await tenant.person('Anna', {}, person)
    await second.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [person])
    await tenant.person('Bo', {}, person)
    await first.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [])
  })

  it('enqueue a later attempt while the other one evaluates, which finds what that one missed', async () => {
    const { tenant, person, collection } = await someoneOutside()
    const first = service.newProcess()
    await first.evaluator.evaluate(tenant.tenantId)
    const { memberships } = service.process
    let isLate = true
    const late: MembershipStore = {
      ...memberships,
      async replace(...evaluated) {
        if (isLate) {
          isLate = false
          await tenant.person('Bo', {}, person)
          await first.evaluator.evaluate(tenant.tenantId)
        }
        return memberships.replace(...evaluated)
      },
    }
    await tenant.person('Anna', {}, person)
    await service.newProcess({ memberships: late }).evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [person])
    assert.deepEqual(first.sentMessages, [{ queue: 'evaluations', message: { tenantId: tenant.tenantId } }])
    await first.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [])
  })

  it('refuse a write of one whose lease has expired', async () => {
    const { tenant, person, collection } = await someoneOutside()
    const second = service.newProcess()
    await second.evaluator.evaluate(tenant.tenantId)
    const { memberships } = service.process
    let isLate = true
    const late: MembershipStore = {
      ...memberships,
      async replace(tenantId, id, previous, members, beforeWrite) {
        // The process stops between the renewal of its lease and the write.
        const stopped = async () => {
          await beforeWrite?.()
          if (!isLate) return
          isLate = false
          await tenant.person('Bo', {}, person)
          service.clock.nowMs += LEASE_EXPIRES_MS
          await second.evaluator.evaluate(tenantId)
        }
        return memberships.replace(tenantId, id, previous, members, stopped)
      },
    }
    await tenant.person('Anna', {}, person)
    const first = service.newProcess({ memberships: late })
    await first.evaluator.evaluate(tenant.tenantId)
    assert.equal(isLate, false)
    assert.deepEqual(await tenant.members(collection), [])
    assert.equal(first.sentMessages.length, 1)
  })

  it('remove a member that one that was killed has added, once its lease has expired', async () => {
    const { tenant, person, collection } = await someoneOutside()
    const first = service.newProcess()
    await first.evaluator.evaluate(tenant.tenantId)
    const { memberships, evaluationLeases } = service.process
    let isKilled = false
    const killed: Partial<EvaluatedDependencies> = {
      memberships: {
        ...memberships,
        async replace(...evaluated) {
          await memberships.replace(...evaluated)
          isKilled = true
          throw new Error('killed')
        },
      },
      evaluationLeases: {
        ...evaluationLeases,
        async save(...lease) {
          if (isKilled) throw new Error('killed')
          return evaluationLeases.save(...lease)
        },
      },
    }
    await tenant.person('Anna', {}, person)
    await assert.rejects(service.newProcess(killed).evaluator.evaluate(tenant.tenantId), /killed/)
    assert.deepEqual(await tenant.members(collection), [person])
    await tenant.person('Bo', {}, person)
    await first.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [person])
    assert.equal(first.sentMessages.length, 1)
    service.clock.nowMs += LEASE_EXPIRES_MS
    await first.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(collection), [])
  })
})

/** A tenant with a person who is not in its one collection, whose members' names begin with A. */
async function someoneOutside() {
  const tenant = criteriaTenant(service)
  return { tenant, person: await tenant.person('Bo'), collection: await tenant.create(startsWith('A')) }
}
