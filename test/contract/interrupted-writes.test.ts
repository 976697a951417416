import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-dependencies.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { CoreObject, ObjectType, Reference } from '../../shared/domain/core/core-object.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import { interruptedWrites, writeDependencies } from '../support/contract/connector-writes.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))

const person = (externalId: string, data: ObjectData = {}): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}
const post = (externalId: string, holder: string): ObjectWrite => {
  const data = { identity: { externalId: holder } }
  return { operation: 'upsert', objectType: 'relationship', externalId, data }
}
const ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000001'
const OTHER_ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000002'
const gone = (externalId: string): ObjectWrite => ({ operation: 'delete', objectType: 'identity', externalId })

/** A tenant with a connector older than every other. */
async function newTenant() {
  const tenantId = randomUUID()
  const addConnector = async (createdAt = '2030-01-02T00:00:00.000+00:00') => {
    const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt }
    const connector = newConnector({ name: 'A source', clientId: randomUUID() }, creation)
    await deps.connectors.add(tenantId, connector)
    return async (writes: readonly ObjectWrite[], using: WriteDependencies = deps) =>
      (await writeObjects(tenantId, connector, writes, using)).map(({ outcome }) => outcome)
  }
  const live = async (objectType: ObjectType): Promise<readonly CoreObject[]> =>
    (await coreObjects.page(tenantId, objectType, undefined, 5000)).items
  return {
    tenantId,
    first: await addConnector('2030-01-01T00:00:00.000+00:00'),
    addConnector,
    people: () => live('identity'),
    positions: () => live('relationship'),
    holders: async () =>
      (await live('relationship')).map(({ attributes }) => (attributes.identity as Reference | undefined)?.objectId),
  }
}

/** Interrupts the write after the connector objects and before the core objects. */
const dying = () =>
  interruptedWrites(deps)('coreObjectsReferringTo', 'before', () => Promise.reject(new Error('The process died')))

it('a write that fails enqueues an evaluation: what it has written is unchanged when it is repeated', async () => {
  const tenant = await newTenant()
  const messages: unknown[] = []
  const messageQueue = { enqueue: async ({ message }: Message) => void messages.push(message) }
  const write: WriteDependencies['coreObjects']['write'] = async (tenantId, writes, softDeletionDays) => {
    const conflicts = await deps.coreObjects.write(tenantId, writes, softDeletionDays)
    if (writes.length > 0) throw new Error('The answer was lost')
    return conflicts
  }
  const coreObjects = { ...deps.coreObjects, write }
  await assert.rejects(tenant.first([person('p1')], { ...deps, messageQueue, coreObjects }), /answer was lost/)
  assert.deepEqual(messages, [{ tenantId: tenant.tenantId }])
  assert.deepEqual(await tenant.first([person('p1')], { ...deps, messageQueue }), ['unchanged'])
  assert.equal(messages.length, 1)
})

describe('a write interrupted between connector objects and core objects is completed by repeating it', () => {
  it('deletion, although the object is already deleted', async () => {
    const tenant = await newTenant()
    await tenant.first([person('p1'), post('r1', 'p1')])
    await assert.rejects(tenant.first([gone('p1')], dying()))
    assert.equal((await tenant.people()).length, 1)
    assert.deepEqual(await tenant.first([gone('p1')]), ['refused'])
    assert.deepEqual([await tenant.people(), await tenant.holders()], [[], [undefined]])
  })

  it('creation, including the objects that refer to the new one', async () => {
    const tenant = await newTenant()
    await tenant.first([post('r1', 'p1')])
    await assert.rejects(tenant.first([person('p1')], dying()))
    assert.deepEqual(await tenant.first([person('p1')]), ['unchanged'])
    assert.deepEqual(
      await tenant.holders(),
      (await tenant.people()).map(({ id }) => id),
    )
  })

  it('creation whose referring object was changed by another write, so that it had to be merged again', async () => {
    const tenant = await newTenant()
    await tenant.first([post('r1', 'p1')])
    const [job] = await tenant.positions()
    let attempts = 0
    const write: WriteDependencies['coreObjects']['write'] = async (tenantId, writes, softDeletionDays) => {
      if (!writes.some(({ object }) => object.id === job?.id))
        return deps.coreObjects.write(tenantId, writes, softDeletionDays)
      attempts += 1
      if (attempts > 1) throw new Error('The process died')
      return new Set(writes.map(({ object }) => object.id))
    }
    await assert.rejects(tenant.first([person('p1')], { ...deps, coreObjects: { ...deps.coreObjects, write } }))
    await tenant.first([person('p1')])
    assert.deepEqual(
      await tenant.holders(),
      (await tenant.people()).map(({ id }) => id),
    )
  })

  it('joining of two identities, including the deleted core object', async () => {
    const tenant = await newTenant()
    const second = await tenant.addConnector()
    await tenant.first([person('hr')])
    await second([person('ad', { nin: '1' })])
    assert.equal((await tenant.people()).length, 2)
    await second([post('job', 'ad')])
    await assert.rejects(tenant.first([person('hr', { nin: '1' })], dying()))
    assert.deepEqual(await tenant.first([person('hr', { nin: '1' })]), ['unchanged'])
    const people = await tenant.people()
    assert.deepEqual(
      people.map(({ attributes }) => attributes.nin),
      ['1'],
    )
    assert.deepEqual(await tenant.holders(), [people[0]?.id])
  })

  it('deletion that parts two others', async () => {
    const tenant = await newTenant()
    const [second, third] = [await tenant.addConnector('2030-01-02T00:00:00.000+00:00'), await tenant.addConnector()]
    await tenant.first([person('hr', { nin: '1', directoryObjectId: ACCOUNT })])
    await second([person('school', { nin: '1' })])
    await third([person('ad', { directoryObjectId: ACCOUNT })])
    assert.equal((await tenant.people()).length, 1)
    await assert.rejects(tenant.first([gone('hr')], dying()))
    assert.deepEqual(await tenant.first([gone('hr')]), ['refused'])
    assert.deepEqual((await tenant.people()).map(({ externalId }) => externalId).sort(), ['ad', 'school'])
  })
})

describe('an account that an interrupted write takes from its holder', () => {
  for (const [claim, letGo] of [
    ['the holder is deleted', gone('p1')],
    ['the holder gets another account', person('p1', { directoryObjectId: OTHER_ACCOUNT })],
  ] as const) {
    it(`is held by the next one when ${claim} and the write is repeated`, async () => {
      for (let atCall = 0; ; atCall += 1) {
        const tenant = await newTenant()
        for (const name of ['p1', 'p2']) await tenant.first([person(name, { directoryObjectId: ACCOUNT })])
        let calls = 0
        const write: WriteDependencies['coreObjects']['write'] = async (...args) => {
          if (calls++ === atCall) throw new Error('The process died')
          return deps.coreObjects.write(...args)
        }
        const dying = { ...deps, coreObjects: { ...deps.coreObjects, write } }
        const isDone = await tenant.first([letGo], dying).then(
          () => true,
          () => false,
        )
        if (!isDone) await tenant.first([letGo])
        const holders = (await tenant.people()).filter(({ attributes }) => attributes.directoryObjectId === ACCOUNT)
        assert.deepEqual(
          holders.map(({ externalId }) => externalId),
          ['p2'],
          `died at write ${atCall}`,
        )
        if (isDone) return
      }
    })
  }
})

describe('a write of an object after an interrupted one', () => {
  const ofAccount = (externalId: string, more: ObjectData = {}) =>
    person(externalId, { directoryObjectId: ACCOUNT, ...more })
  /** The object of `ad` moved to the core object of `hr`, and neither core object was merged. */
  const halfJoined = async () => {
    const tenant = await newTenant()
    const second = await tenant.addConnector()
    await tenant.first([person('hr', { nin: '1' }), person('boss', { nin: '3' })])
    await second([ofAccount('ad')])
    await assert.rejects(second([ofAccount('ad', { nin: '1' })], dying()))
    const names = async () => (await tenant.people()).map(({ externalId }) => externalId).sort()
    return { second, names }
  }

  it('leaves no stale core object when it deletes the object', async () => {
    const { second, names } = await halfJoined()
    await second([gone('ad')])
    assert.deepEqual(await names(), ['boss', 'hr'])
  })

  it('leaves no stale core object when it moves the object again', async () => {
    const { second, names } = await halfJoined()
    await second([ofAccount('ad', { nin: '3' })])
    assert.deepEqual(await names(), ['boss', 'hr'])
  })

  it('leaves no stale core object when it moves the object again, is interrupted and repeated', async () => {
    const { second, names } = await halfJoined()
    await assert.rejects(second([ofAccount('ad', { nin: '3' })], dying()))
    await second([ofAccount('ad', { nin: '3' })])
    assert.deepEqual(await names(), ['boss', 'hr'])
  })
})

describe('an object that was moved to another core object', () => {
  it('does not restore the former core object after its expiry', async () => {
    const tenant = await newTenant()
    const second = await tenant.addConnector()
    await tenant.first([person('hr')])
    await second([person('ad', { nin: '1' })])
    const before = (await tenant.people()).map(({ id }) => id)
    await tenant.first([person('hr', { nin: '1' })])
    const [only] = await tenant.people()
    const former = before.find((id) => id !== only?.id) ?? ''
    const item = database('coreObjects').item(former, tenant.tenantId)
    await item.delete()
    assert.deepEqual(await second([person('ad', { nin: '1' })]), ['unchanged'])
    assert.equal((await item.read()).statusCode, 404)
  })
})

describe('a batch in which two writes move identities by one object', () => {
  it('is completed by its repetition after an interruption', async () => {
    const tenant = await newTenant()
    const second = await tenant.addConnector()
    await tenant.first([person('2', { nin: '2' }), person('1', { nin: '1' })])
    await second([person('1', { nin: '2' })])
    // The first one leaves the identity of the second connector, and takes over the person of the deleted one.
    const batch = [gone('1'), person('2', { nin: '1' })]
    await assert.rejects(tenant.first(batch, dying()))
    await tenant.first(batch)
    assert.deepEqual((await tenant.people()).map(({ attributes }) => attributes.nin).sort(), ['1', '2'])
  })
})

describe('a batch after which nobody is left in a core object', () => {
  for (const isInterrupted of [false, true]) {
    const how = isInterrupted ? 'interrupted and repeated' : 'carried out at once'
    it(`merges it into that of who has left last, ${how}`, async () => {
      const tenant = await newTenant()
      const second = await tenant.addConnector()
      await tenant.first([person('2', { nin: '2' }), person('1', { nin: '1' })])
      await second([person('1', { nin: '2' })])
      const idOf = async (nin: string) => (await tenant.people()).find(({ attributes }) => attributes.nin === nin)?.id
      const left = (await idOf('2')) ?? ''
      const batch = [gone('1'), person('2', { nin: '1' })]
      if (isInterrupted) await assert.rejects(tenant.first(batch, dying()))
      await tenant.first(batch)
      const former = await database('coreObjects').item(left, tenant.tenantId).read<{ mergedInto: string }>()
      assert.equal(former.resource?.mergedInto, await idOf('1'))
    })
  }
})

describe('a record that returns after others have gone on with its person', () => {
  it('is another person, and what is merged away stays merged into the one that went on', async () => {
    const tenant = await newTenant()
    const [second, third] = [await tenant.addConnector(), await tenant.addConnector('2030-01-03T00:00:00.000+00:00')]
    const account = { directoryObjectId: ACCOUNT }
    await second([person('1', { nin: '2' })])
    const [known] = (await tenant.people()).map(({ id }) => id)
    await third([person('1', account)])
    const formerId = (await tenant.people()).map(({ id }) => id).find((id) => id !== known) ?? ''
    await third([gone('1'), person('2', account)])
    await tenant.first([person('2', { nin: '2', ...account })])
    const [whole, ...others] = (await tenant.people()).map(({ id }) => id)
    assert.deepEqual(others, [])
    await third([person('1', account)])
    assert.equal((await tenant.people()).length, 2)
    const former = await database('coreObjects').item(formerId, tenant.tenantId).read<{ mergedInto: string }>()
    assert.equal(former.resource?.mergedInto, whole)
  })
})

describe('a person who is deleted after a record that was one with it has become another person', () => {
  for (const isInterrupted of [false, true]) {
    const how = isInterrupted ? 'also after an interrupted deletion' : 'after the deletion'
    it(`is not merged into that one by its next write, ${how}`, async () => {
      const tenant = await newTenant()
      const second = await tenant.addConnector()
      await tenant.first([person('1', { nin: '1' })])
      await second([person('c', { nin: '1' })])
      const [whole] = (await tenant.people()).map(({ id }) => id)
      await second([person('c', { nin: '2' })])
      if (isInterrupted) await assert.rejects(tenant.first([gone('1')], dying()))
      else await tenant.first([gone('1')])
      for (const badge of ['A', 'A', 'B']) await second([person('c', { nin: '2', 'custom/badge': badge })])
      if (isInterrupted) await tenant.first([gone('1')])
      const former = await database('coreObjects')
        .item(whole ?? '', tenant.tenantId)
        .read()
      assert.deepEqual([former.resource?.deleted, former.resource?.mergedInto], [true, undefined])
    })
  }
})

describe('a connector created while the only other one writes', () => {
  for (const when of ['before', 'after'] as const) {
    it(`joins the same person written ${when} the first write`, async () => {
      const tenant = await newTenant()
      const arrival = interruptedWrites(deps)('write', when, async () =>
        (await tenant.addConnector())([person('ad', { nin: '1' })]),
      )
      await tenant.first([person('hr', { nin: '1' })], arrival)
      assert.equal((await tenant.people()).length, 1)
    })
  }
})
