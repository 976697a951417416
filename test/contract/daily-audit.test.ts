import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import { coreObjectsToAudit } from '../../shared/domain/connectors/audit-scope.ts'
import { updateConnector } from '../../shared/domain/connectors/manage-connectors.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { builtService } from '../support/api/built-service.ts'
import { mortalDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { accountOf, objectWrite } from '../support/contract/random-writes.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const RUNS_COUNT = Number(process.env.AUDIT_RUNS ?? 40)

let nowMs = Date.parse('2030-01-15T01:00:00Z')
const { cosmos, container } = await startDirectAccount(() => nowMs)
cosmos.unref()
const parts = { nowMs: () => nowMs, elapsedMs: () => nowMs }
const { connectors: deps, messages } = builtService(container, parts)

const person = (externalId: string, data = {}): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}
const post = (externalId: string, holder: string): ObjectWrite => {
  const data = { identity: { externalId: holder } }
  return { operation: 'upsert', objectType: 'relationship', externalId, data }
}

const caller = { kind: 'application', objectId: randomUUID(), clientId: undefined, roles: new Set<never>() } as const

/** A service that ends before its call of the database of this number. */
const mortal = (callsLeft: number) => builtService(mortalDatabase(cosmos, callsLeft), parts).connectors

async function newTenant(connectorCount = 1) {
  const source = await newSourceTenant(
    Array.from({ length: connectorCount }, () => randomUUID()),
    deps,
  )
  const { tenantId, connectors } = source
  const stored = async () => {
    const query = 'SELECT * FROM c ORDER BY c.id'
    const documents = await container('coreObjects').items.query(query, { partitionKey: tenantId }).fetchNext()
    return documents.resources as { id: string; _etag: string; attributes: Record<string, unknown>; deleted: boolean }[]
  }
  const audit = () => messages.audits.handle({ tenantId })
  return {
    tenantId,
    connectors,
    stored,
    audit,
    versions: async () => (await stored()).map(({ id, _etag }) => `${id} ${_etag}`),
    write: (writes: readonly ObjectWrite[], connector = 0, using = deps) =>
      writeObjects(tenantId, connectors[connector] ?? assert.fail(), writes, using),
    /** Audits all core objects, as the first audit of a tenant does. */
    async auditAll() {
      await container('tenants').item('core-object-audit', tenantId).delete()
      await audit()
    },
  }
}

/** The request units and operations of the work. */
async function costOf(work: () => Promise<unknown>) {
  const operations = () => Object.values(cosmos.operations()).reduce((sum, count) => sum + count, 0)
  const [unitsBefore, operationsBefore] = [cosmos.chargedUnits(), operations()]
  await work()
  return { units: cosmos.chargedUnits() - unitsBefore, operations: operations() - operationsBefore }
}

describe('The daily audit', () => {
  it('repairs what a complete one would, after random writes of which any can be interrupted anywhere', async () => {
    const write = fc.record({ writes: fc.array(objectWrite, { minLength: 1, maxLength: 3 }), connector: fc.nat(1) })
    const interrupted = fc.record({ write, callsLeft: fc.integer({ min: 5, max: 25 }), isAudited: fc.boolean() })
    const property = fc.asyncProperty(
      fc.array(write, { minLength: 3, maxLength: 6 }),
      fc.array(interrupted, { minLength: 1, maxLength: 3 }),
      async (completed, others) => {
        nowMs = Date.parse('2030-01-15T01:00:00Z')
        const tenant = await newTenant(2)
        for (const { writes, connector } of completed) await tenant.write(writes, connector)
        nowMs += 2 * HOUR_MS
        await tenant.audit()
        for (const { write, callsLeft, isAudited } of others) {
          // What was written long before an audit is not read again.
          nowMs += 2 * HOUR_MS
          await tenant.write(write.writes, write.connector, mortal(callsLeft)).catch(() => undefined)
          if (isAudited) await tenant.audit()
        }
        await tenant.audit()
        const before = await tenant.versions()
        await tenant.auditAll()
        assert.deepEqual(await tenant.versions(), before)
      },
    )
    await fc.assert(property, { numRuns: RUNS_COUNT })
  })

  it('repairs a core object that was written wrongly, such as by two writers that missed each other', async () => {
    const tenant = await newTenant()
    await tenant.write([person('1', { displayName: 'As delivered' })])
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    nowMs += 2 * HOUR_MS
    const [found] = await tenant.stored()
    await container('coreObjects').items.upsert({ ...found, attributes: { displayName: 'Formerly' } })
    await tenant.audit()
    assert.deepEqual((await tenant.stored())[0]?.attributes, { displayName: 'As delivered' })
  })

  it('joins people whom an interrupted write has left apart from one that another connector wrote meanwhile', async () => {
    const tenant = await newTenant(2)
    const account = { directoryObjectId: accountOf('1') }
    await tenant.write([person('1', account), person('3', account)])
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    // The account of two identities of one connector joins none. When one of them has lost it, it joins the other.
    const elsewhere = new Set((await tenant.stored()).map(({ id }) => id))
    await tenant.write([person('1', account)], 1)
    await tenant.write([person('1', { nin: '2' })])
    const joined = (await tenant.stored()).find(({ id, deleted }) => !deleted && !elsewhere.has(id))
    assert.equal(joined, undefined, 'joined at once')
    // As the write leaves it when it ends before it looks at others again.
    const query = 'SELECT * FROM c WHERE c.externalId = "1" AND c.data.directoryObjectId = @account'
    const parameters = [{ name: '@account', value: accountOf('1') }]
    const partition = { partitionKey: tenant.tenantId }
    const found = await container('connectorObjects').items.query({ query, parameters }, partition).fetchNext()
    const [apart] = found.resources as { id: string }[]
    const coreObjectId = randomUUID()
    await container('connectorObjects').items.upsert({ ...apart, coreObjectId })
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    const live = (await tenant.stored()).filter(({ deleted }) => !deleted)
    assert.equal(live.length, 2)
    assert.ok(!live.some(({ id }) => id === coreObjectId))
  })

  it('joins people whose conflict two writes ended at once, each without seeing the other', async () => {
    const tenant = await newTenant(2)
    const account = { directoryObjectId: accountOf('1') }
    await tenant.write([person('1', account), person('2', account)])
    await tenant.write([person('1', account)], 1)
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    const live = async () => (await tenant.stored()).filter(({ deleted }) => !deleted)
    assert.equal((await live()).length, 3)
    // As if the other two had not been seen by what deleted it.
    const query = 'SELECT * FROM c WHERE c.externalId = "2"'
    const partition = { partitionKey: tenant.tenantId }
    const { resources } = await container('connectorObjects').items.query<{ id: string }>(query, partition).fetchNext()
    await container('connectorObjects')
      .item(resources[0]?.id ?? '', tenant.tenantId)
      .delete()
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    // The core object of the one that is gone is as it was: no write shows it.
    assert.equal((await live()).length, 2)
  })

  it('stores texts that are older than their normalised form in it, once, which is no repair', async () => {
    const tenant = await newTenant()
    await tenant.write(Array.from({ length: 40 }, (_, index) => person(`p${index}`, { displayName: 'Ase' })))
    // As a version before this form stored them: decomposed, with blanks.
    const before = { displayName: ' A\u030ase  B ' }
    for (const [name, member] of [
      ['connectorObjects', 'data'],
      ['coreObjects', 'attributes'],
    ] as const) {
      const query = 'SELECT * FROM c'
      const partition = { partitionKey: tenant.tenantId }
      const { resources = [] } = await container(name).items.query<{ id: string }>(query, partition).fetchNext()
      const objects = resources.filter((document) => member in document)
      assert.equal(objects.length, 40)
      for (const document of objects) {
        await container(name)
          .item(document.id, tenant.tenantId)
          .replace({ ...document, [member]: before })
      }
    }
    const recorded: string[] = []
    const metrics = { record: (name: string) => void recorded.push(name) }
    const audit = (using: typeof deps) => auditCoreObjects({ tenantId: tenant.tenantId }, { ...using, metrics })
    const names = async () => new Set((await tenant.stored()).map(({ attributes }) => attributes.displayName))
    assert.deepEqual(await names(), new Set([before.displayName]))
    await assert.rejects(audit(mortal(6)))
    const first = await costOf(() => audit(deps))
    assert.deepEqual(await names(), new Set(['\u00c5se  B']))
    const versions = await tenant.versions()
    await container('tenants').item('core-object-audit', tenant.tenantId).delete()
    const second = await costOf(() => audit(deps))
    assert.deepEqual(await tenant.versions(), versions)
    assert.ok(first.units - second.units < 40 * 8, `${first.units} ${second.units}`)
    assert.deepEqual(recorded, [])
  })

  it('reads none of the objects when nothing was written since the last one', async () => {
    const tenant = await newTenant()
    await tenant.write(Array.from({ length: 300 }, (_, index) => person(`${index}`)))
    await tenant.write(Array.from({ length: 300 }, (_, index) => post(`${index}`, `${index}`)))
    nowMs += 2 * HOUR_MS
    const complete = await costOf(tenant.audit)
    nowMs += 2 * HOUR_MS
    const { units, operations } = await costOf(tenant.audit)
    assert.ok(complete.units > 500 && units < 30 && operations <= 8, `${complete.units} ${units} ${operations}`)
  })

  it('covers all writes since the beginning of a complete one that took several messages', async () => {
    const tenant = await newTenant()
    const beganAtMs = nowMs - 5 * HOUR_MS
    const last = { tenantId: tenant.tenantId, after: 'ffffffff-ffff-4fff-bfff-ffffffffffff' }
    await messages.audits.handle(last)
    assert.equal(await deps.audits.find(tenant.tenantId), undefined)
    await messages.audits.handle({ ...last, beganAtMs })
    assert.deepEqual(await deps.audits.find(tenant.tenantId), { auditedAtMs: beganAtMs, completeAtMs: beganAtMs })
  })

  it('compares everything within 84 days, on different days for different tenants', async () => {
    const tenants = await Promise.all(Array.from({ length: 6 }, () => newTenant()))
    for (const tenant of tenants) {
      await tenant.write([person('1', { displayName: 'As delivered' })])
      const [found] = await tenant.stored()
      await container('coreObjects').items.upsert({ ...found, attributes: { displayName: 'Formerly' } })
    }
    nowMs += 2 * HOUR_MS
    // As if the difference had a cause that no write shows.
    for (const { tenantId } of tenants) await deps.audits.save(tenantId, { auditedAtMs: nowMs, completeAtMs: nowMs })
    const repairedOn = new Map<string, number>()
    for (let day = 1; day <= 84; day += 1) {
      nowMs += DAY_MS
      for (const tenant of tenants) {
        if (repairedOn.has(tenant.tenantId)) continue
        await tenant.audit()
        const [found] = await tenant.stored()
        if (found?.attributes.displayName === 'As delivered') repairedOn.set(tenant.tenantId, day)
      }
    }
    assert.equal(repairedOn.size, tenants.length)
    assert.ok(new Set(repairedOn.values()).size > 1)
  })

  it('compares everything after a change of a connector, which can change the rules for all its objects', async () => {
    const tenant = await newTenant()
    await tenant.write([person('1', { directoryObjectId: accountOf('1') })])
    nowMs += 2 * HOUR_MS
    await tenant.audit()
    nowMs += 2 * HOUR_MS
    const [connector = assert.fail()] = tenant.connectors
    await updateConnector(
      connector.id,
      { bindsAccounts: false },
      undefined,
      { ...caller, tenantId: tenant.tenantId },
      deps,
    )
    await tenant.audit()
    assert.deepEqual(
      (await tenant.stored()).map(({ attributes }) => attributes),
      [{}],
    )
  })

  it('splits people that an account joined once their connector binds none, wherever it is interrupted', async () => {
    let isInterrupted = true
    for (let callCount = 1; isInterrupted; callCount += 1) {
      const tenant = await newTenant(2)
      const { tenantId } = tenant
      const account = { directoryObjectId: accountOf('1') }
      await tenant.write([person('h', { nin: '1', ...account })])
      await tenant.write([person('p', account)], 1)
      const [, connector = assert.fail()] = tenant.connectors
      await updateConnector(connector.id, { bindsAccounts: false }, undefined, { ...caller, tenantId }, deps)
      const batch = { tenantId, after: '0', beganAtMs: nowMs }
      isInterrupted = await auditCoreObjects(batch, mortal(callCount)).then(
        () => false,
        () => true,
      )
      await auditCoreObjects(batch, deps)
      const accounts = (await tenant.stored()).map(({ attributes }) => attributes.directoryObjectId)
      assert.deepEqual(accounts.sort(), [account.directoryObjectId, undefined], `after ${callCount} calls`)
    }
  })

  it('compares everything after more than 5,000 changes', async () => {
    const scopeAfter = (changedCount: number) => {
      const written = Array.from({ length: changedCount }, (_, index) => `${index}`)
      const audits = { ...deps.audits, coreObjectsSince: async () => written }
      const basis = { audited: { auditedAtMs: nowMs, completeAtMs: nowMs }, connectors: [], nowMs }
      return coreObjectsToAudit(randomUUID(), basis, { ...deps, audits })
    }
    assert.equal((await scopeAfter(5000))?.length, 5000)
    assert.equal(await scopeAfter(5001), undefined)
  })
})
