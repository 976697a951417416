import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { deleteConnector } from '../../shared/domain/connectors/manage-connectors.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import type { ItemOutcome } from '../../shared/domain/connectors/write-decision.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { DAY_MS } from '../../shared/kernel/timestamp.ts'
import { interruptedWrites, writeDependencies } from '../support/contract/connector-writes.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)

async function newPlace() {
  const tenantId = randomUUID()
  const caller: Caller = {
    kind: 'user',
    tenantId,
    objectId: randomUUID(),
    clientId: undefined,
    roles: new Set(['Administrator']),
  }
  const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
  await deps.connectors.add(tenantId, connector)
  const another = async () => {
    const later = { ...creation, id: randomUUID(), createdAt: '2030-01-02T00:00:00.000+00:00' }
    const added = newConnector({ name: 'Accounts', clientId: randomUUID() }, later)
    await deps.connectors.add(tenantId, added)
    return added
  }
  const codesOf = (outcomes: readonly ItemOutcome[]) =>
    outcomes.map((outcome) => (outcome.outcome === 'refused' ? outcome.errors[0]?.code : outcome.outcome))
  return {
    tenantId,
    another,
    write: async (writes: readonly ObjectWrite[], using = deps) =>
      codesOf(await writeObjects(tenantId, connector, writes, using)),
    deletion: (using = deps) =>
      deleteConnector(connector.id, undefined, caller, using).then(
        () => 'deleted',
        ({ code }) => code,
      ),
    isThere: async () => (await deps.connectors.find(tenantId, connector.id)) !== undefined,
    hasLive: () => deps.objects.hasLive(tenantId, connector.id),
    coreObjects: async () =>
      (await Promise.all((['identity', 'orgUnit'] as const).map((type) => corePage(tenantId, type)))).flat(),
  }
}

const corePage = async (tenantId: string, objectType: 'identity' | 'orgUnit') =>
  (await cosmosCoreObjectStore(database('coreObjects')).page(tenantId, objectType, undefined, 5000)).items

const interrupted = interruptedWrites(deps)

const PERSON: ObjectWrite = { operation: 'upsert', objectType: 'identity', externalId: 'p1', data: {} }
const unit = (externalId: string, parent: string): ObjectWrite => ({
  operation: 'upsert',
  objectType: 'orgUnit',
  externalId,
  data: { parent: { externalId: parent } },
})

describe('a connector deleted while an object is added', () => {
  for (const at of ['hasLive', 'version', 'open', 'close'] as const) {
    for (const when of ['before', 'after'] as const) {
      it(`keeps or refuses the object written ${when} the deletion's step "${at}"`, async () => {
        const place = await newPlace()
        let written: unknown[] = []
        const answer = await place.deletion(
          interrupted(at, when, async () => {
            written = await place.write([PERSON])
          }),
        )
        const isKept = `${at} ${when}` !== 'close after'
        assert.deepEqual(
          [answer, ...written],
          isKept ? ['ConnectorInUse', 'created'] : ['deleted', 'ConnectorNotFound'],
        )
        assert.deepEqual([await place.isThere(), await place.hasLive()], [isKept, isKept])
        assert.equal((await place.coreObjects()).length, isKept ? 1 : 0)
      })
    }
  }

  for (const [claim, isOpened] of [
    ['first', false],
    ['later', true],
  ] as const) {
    it(`refuses the ${claim} object when it is deleted just before the write`, async () => {
      const place = await newPlace()
      if (isOpened) {
        await place.write([PERSON])
        await place.write([{ operation: 'delete', objectType: 'identity', externalId: 'p1' }])
      }
      assert.deepEqual(
        await place.write(
          [PERSON],
          interrupted('write', 'before', () => place.deletion()),
        ),
        ['ConnectorNotFound'],
      )
      assert.deepEqual([await place.isThere(), await place.hasLive()], [false, false])
      assert.deepEqual(await place.coreObjects(), [])
    })
  }

  it('accepts no object once its space is closed, and the next deletion completes', async () => {
    const place = await newPlace()
    const crash = () => Promise.reject(Object.assign(new Error('The process died'), { code: 'died' }))
    assert.equal(await place.deletion(interrupted('close', 'after', crash)), 'died')
    assert.deepEqual(await place.write([PERSON]), ['ConnectorNotFound'])
    assert.equal(await place.isThere(), true)
    assert.equal(await place.deletion(), 'deleted')
    assert.deepEqual([await place.isThere(), await place.hasLive()], [false, false])
  })
})

describe('a connector with concurrent deletions', () => {
  for (const at of ['hasLive', 'version', 'open', 'close'] as const) {
    for (const when of ['before', 'after'] as const) {
      it(`is deleted by one of two, the other running ${when} the step "${at}"`, async () => {
        const place = await newPlace()
        let inner: unknown
        const outer = await place.deletion(
          interrupted(at, when, async () => {
            inner = await place.deletion()
          }),
        )
        assert.deepEqual([inner, outer], ['deleted', 'ConnectorNotFound'])
        assert.equal(await place.isThere(), false)
      })
    }
  }

  it('is deleted by one of many', async () => {
    const place = await newPlace()
    const answers = await Promise.all(Array.from({ length: 20 }, () => place.deletion()))
    assert.deepEqual(answers.sort(), [...Array.from({ length: 19 }, () => 'ConnectorNotFound'), 'deleted'].sort())
  })
})

describe('org units whose parents are set concurrently', () => {
  it('never form a cycle: the later of two writes is refused', async () => {
    for (const at of ['referenceTargets', 'writeTree'] as const) {
      const place = await newPlace()
      let inner: unknown[] = []
      const outer = await place.write(
        [unit('a', 'b')],
        interrupted(at, at === 'referenceTargets' ? 'after' : 'before', async () => {
          inner = await place.write([unit('b', 'a')])
        }),
      )
      assert.deepEqual([inner, outer], [['created'], ['ReferenceCycle']])
    }
  })

  it('never form a longer cycle through moved and restored units', async () => {
    const place = await newPlace()
    await place.write([unit('a', 'b'), unit('b', 'c'), unit('d', 'e')])
    await place.write([{ operation: 'delete', objectType: 'orgUnit', externalId: 'b' }])
    const restored = () => place.write([unit('b', 'c')])
    assert.deepEqual(await place.write([unit('c', 'a')], interrupted('writeTree', 'before', restored)), [
      'ReferenceCycle',
    ])
  })

  it('can be written below a stored cycle, and moved out of it', async () => {
    const place = await newPlace()
    await place.write([unit('a', 'top'), unit('b', 'a')])
    const circle = {
      ...deps,
      objects: { ...deps.objects, referenceTargets: async () => [] },
    }
    assert.deepEqual(await place.write([unit('a', 'b')], circle), ['updated'])
    assert.deepEqual(await place.write([unit('c', 'b')]), ['created'])
    assert.deepEqual(await place.write([unit('b', 'a')]), ['ReferenceCycle'])
    assert.deepEqual(await place.write([unit('b', 'top')]), ['updated'])
    assert.deepEqual(await place.write([unit('b', 'a')]), ['ReferenceCycle'])
  })

  it('are all written when several batches change the tree concurrently', async () => {
    const place = await newPlace()
    const batches = [1, 2, 3].map((batch) =>
      Array.from({ length: 300 }, (_, index) => unit(`${batch}/${index}`, 'top')),
    )
    const outcomes = (await Promise.all(batches.map((batch) => place.write(batch)))).flat()
    assert.deepEqual(new Set(outcomes), new Set(['created']))
    assert.equal((await place.coreObjects()).length, 900)
  })
})

describe('two people of one connector with a key of a third one', () => {
  for (const when of ['before', 'after'] as const) {
    it(`are two when the second is written right ${when} the first`, async () => {
      const place = await newPlace()
      const accounts = await place.another()
      const person = (externalId: string): ObjectWrite => ({ ...PERSON, externalId, data: { nin: '01010112345' } })
      await writeObjects(place.tenantId, accounts, [person('account')], deps)
      const second = () => place.write([person('second')])
      assert.deepEqual(await place.write([person('first')], interrupted('write', when, second)), ['created'])
      const people = await deps.objects.identitiesByKeys(place.tenantId, new Map([['nin', ['01010112345']]]))
      const coreObjectOf = (name: string) => people.find(({ value }) => value.externalId === name)?.value.coreObjectId
      assert.notEqual(coreObjectOf('first'), coreObjectOf('second'))
      assert.ok([coreObjectOf('first'), coreObjectOf('second')].includes(coreObjectOf('account')))
      assert.equal((await place.coreObjects()).length, 2)
    })
  }
})

describe('a person who is created under a new external id while another request deletes the former one', () => {
  const person = (externalId: string): ObjectWrite => ({ ...PERSON, externalId, data: { nin: '01010112345' } })
  const afterDays = (days: number) => ({ ...deps, nowMs: () => Date.parse('2030-01-01T00:00:00Z') + days * DAY_MS })

  for (const [claim, isInterrupted] of [
    ['at once', false],
    ['when the interrupted creation is repeated a month later', true],
  ] as const) {
    it(`has the former core object ${claim}`, async () => {
      const place = await newPlace()
      const accounts = await place.another()
      const coreObjectOf = async (name: string) =>
        (await deps.objects.identitiesByKeys(place.tenantId, new Map([['nin', ['01010112345']]]))).find(
          ({ value }) => value.externalId === name,
        )?.value.coreObjectId
      // The conflict that these leave is stored, so that the creation changes nothing that the deletion has read.
      await writeObjects(place.tenantId, accounts, [person('one'), person('other')], deps)
      await place.write([person('former')])
      const before = await coreObjectOf('former')
      const deletion: ObjectWrite = { operation: 'delete', objectType: 'identity', externalId: 'former' }
      const racing = interruptedWrites(afterDays(1))('write', 'before', () => place.write([deletion], afterDays(1)))
      if (isInterrupted) {
        const died = () => Promise.reject(new Error('The process died'))
        await assert.rejects(place.write([person('new')], interruptedWrites(racing)('write', 'after', died)))
        assert.notEqual(await coreObjectOf('new'), before)
        await place.write([person('new')], afterDays(31))
      } else await place.write([person('new')], racing)
      assert.equal(await coreObjectOf('new'), before)
    })
  }
})
