import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { HistoryEntry } from '../../shared/domain/insight/list-history.ts'
import {
  all,
  COLLECTIONS,
  CRITERIA,
  codes,
  criteriaTenant,
  leaf,
  named,
  startCriteriaService,
  startsWith,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

const newTenant = () => {
  const tenant = criteriaTenant(service)
  const history = async (id: string, query = ''): Promise<HistoryEntry[]> =>
    (await tenant.send('GET', `${COLLECTIONS}/${id}/history${query}`)).body.data
  return { ...tenant, history }
}

/** The members of an entry that tell why. */
const why = ({ objectId, change, cause, actorId }: HistoryEntry) => [objectId, change, cause, actorId]

describe('The history of a criteria collection', () => {
  it('names who created and changed the definition', async () => {
    const tenant = newTenant()
    const [ann, bo] = [await tenant.person('Ann'), await tenant.person('Bo')]
    const author = randomUUID()
    const account = randomUUID()
    const authorId = await tenant.person('Cy', { directoryObjectId: account })
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const [first] = await tenant.history(id)
    assert.equal(first?.cause, 'DefinitionChanged')
    assert.match(first?.actorId ?? '', /^[0-9a-f-]{36}$/)
    assert.notEqual(first?.actorId, author)
    service.clock.nowMs += 1000
    const send = service.asUser(tenant.tenantId, account, 'collection_criteria_definition-administrator')
    await send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition: named('Bo') })
    await tenant.evaluate()
    const entries = await tenant.history(id)
    assert.deepEqual(entries.map(why), [
      [bo, 'Added', 'DefinitionChanged', authorId],
      [ann, 'Removed', 'DefinitionChanged', authorId],
      [ann, 'Added', 'DefinitionChanged', first?.actorId],
    ])
    const at = new Date(service.clock.nowMs).toISOString().replace('Z', '+00:00')
    const { relationshipId, requestId, membershipVersion } = entries[0] as HistoryEntry
    assert.deepEqual([entries[0]?.at, relationshipId, requestId, membershipVersion], [at, null, null, 2])
  })

  it('tells changed, deleted and merged objects apart', async () => {
    const tenant = newTenant()
    const [ann, bo, cy] = [await tenant.person('Ann'), await tenant.person('Ann'), await tenant.person('Cy')]
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    await tenant.person('Ann', {}, cy)
    await tenant.evaluate()
    assert.deepEqual((await tenant.history(id)).slice(0, 1).map(why), [[cy, 'Added', 'ObjectChanged', 'system']])
    await tenant.put('identity', { displayName: 'Ann' }, ann, true)
    await tenant.evaluate()
    assert.deepEqual((await tenant.history(id)).slice(0, 1).map(why), [[ann, 'Removed', 'ObjectDeleted', 'system']])
    const dee = await tenant.person('Dee')
    await tenant.evaluate()
    await tenant.put('identity', { displayName: 'Ann' }, bo, true, { mergedInto: dee })
    await tenant.person('Ann', {}, dee)
    await tenant.evaluate()
    assert.deepEqual((await tenant.history(id)).slice(0, 2).map(why), [
      [dee, 'Added', 'Merged', 'system'],
      [bo, 'Removed', 'Merged', 'system'],
    ])
  })

  it('tells a changed referenced collection from a changed object, also in a process that has just started', async () => {
    for (const isCold of [false, true]) {
      const tenant = newTenant()
      const evaluator = () => (isCold ? service.newProcess() : service.process).evaluator
      const people = await Promise.all(['Ann 1', 'Ann 2'].map((name) => tenant.person(name)))
      const [ann = '', bo = ''] = people
      const base = await tenant.create(named('Ann 1'))
      const id = await tenant.create({
        groupOperator: 'AND',
        conditions: [leaf('memberOfCollection', 'Equals', base), leaf('identityDisplayName', 'StartsWith', 'Ann')],
      })
      await evaluator().evaluate(tenant.tenantId)
      service.clock.nowMs += 3_600_000
      await tenant.send('PUT', `${CRITERIA}/${base}`, { objectType: 'Identity', condition: startsWith('Ann') })
      await evaluator().evaluate(tenant.tenantId)
      assert.deepEqual((await tenant.history(id)).slice(0, 1).map(why), [
        [bo, 'Added', 'ReferencedCollection', 'system'],
      ])
      service.clock.nowMs += 3_600_000
      await tenant.person('Bo', {}, ann)
      await evaluator().evaluate(tenant.tenantId)
      // Where both have changed, the object is the cause.
      const removed = [ann, 'Removed', 'ObjectChanged', 'system']
      assert.deepEqual((await tenant.history(id)).slice(0, 1).map(why), [removed])
    }
  })

  it('tells a new day from a changed object, also in a process that has just started', async () => {
    for (const isCold of [false, true]) {
      const tenant = newTenant()
      const evaluator = () => (isCold ? service.newProcess() : service.process).evaluator
      const day = (days: number) => new Date(service.clock.nowMs + days * 86_400_000).toISOString().slice(0, 10)
      const people = await Promise.all(['Ann', 'Bo'].map((name) => tenant.person(name)))
      const [ann = '', bo = ''] = people
      const [first] = [await tenant.position(ann, undefined, { endDate: day(0) })]
      const second = await tenant.position(bo, undefined, { endDate: day(9) })
      const id = await tenant.create(all(leaf('relationshipEndDate', 'GreaterThanOrEqual', 'Today()')), {
        objectType: 'Relationship',
      })
      await evaluator().evaluate(tenant.tenantId)
      assert.equal((await tenant.history(id)).length, 2)
      service.clock.nowMs += 86_400_000
      await tenant.put('relationship', { identity: { objectId: bo }, endDate: day(-9) }, second)
      await evaluator().evaluate(tenant.tenantId)
      const entries = (await tenant.history(id)).slice(0, 2)
      assert.deepEqual(
        new Map(entries.map(({ objectId, cause }) => [objectId, cause])),
        new Map([
          [first, 'DayChanged'],
          [second, 'ObjectChanged'],
        ]),
      )
      assert.deepEqual(
        entries.map(({ objectId }) => objectId),
        entries.map(({ relationshipId }) => relationshipId),
      )
    }
  })

  it('comes in pages, of one object and of a time', async () => {
    const tenant = newTenant()
    const people = await Promise.all(['Ann 1', 'Ann 2', 'Ann 3'].map((name) => tenant.person(name)))
    const id = await tenant.create(startsWith('Ann'))
    await tenant.evaluate()
    const startMs = service.clock.nowMs
    for (const person of people) {
      service.clock.nowMs += 1000
      await tenant.person('Bo', {}, person)
      await tenant.evaluate()
    }
    const whole = await tenant.history(id)
    assert.equal(whole.length, 6)
    assert.deepEqual(await tenant.paged(`${COLLECTIONS}/${id}/history`, 4), whole)
    const [, second = ''] = people
    assert.deepEqual(
      await tenant.history(id, `?objectId=${second}`),
      whole.filter(({ objectId }) => objectId === second),
    )
    const [from, to] = [startMs + 2000, startMs + 3000].map((atMs) => new Date(atMs).toISOString())
    assert.deepEqual(await tenant.history(id, `?from=${from}&to=${to}`), [whole[1]])
    assert.deepEqual(codes(await tenant.send('GET', `${COLLECTIONS}/${id}/history?from=soon`)), [400, 'InvalidValue'])
    assert.deepEqual(codes(await tenant.send('GET', `${COLLECTIONS}/${UNKNOWN_ID}/history`)), [
      404,
      'CollectionNotFound',
    ])
  })
})
