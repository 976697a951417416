import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import { updateConnector } from '../../shared/domain/connectors/manage-connectors.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { MessageOf, MessageQueue } from '../../shared/kernel/messages.ts'
import { builtService } from '../support/api/built-service.ts'
import { mortalDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const BY_EMAIL = { joinOn: ['nin', 'email'] }

let nowMs = Date.parse('2030-01-15T01:00:00Z')
const { cosmos, container } = await startDirectAccount(() => nowMs)
cosmos.unref()
const audits: { readonly message: MessageOf<'audits'>; readonly delayMs: number }[] = []
const enqueue: MessageQueue['enqueue'] = async ({ queue, message }, { delayMs = 0 }) => {
  if (queue === 'audits') audits.push({ message, delayMs })
}
const parts = { nowMs: () => nowMs, elapsedMs: () => nowMs, messageQueue: { enqueue } }
const { connectors: deps } = builtService(container, parts)

/** A service that ends before its call of the database of this number. */
const mortal = (callsLeft: number) => builtService(mortalDatabase(cosmos, callsLeft), parts).connectors

const callerOf = (tenantId: string) =>
  ({ kind: 'application', tenantId, objectId: randomUUID(), clientId: undefined, roles: new Set<never>() }) as const

/** A tenant with a person and a connector that lists a new key. The audits of the change are still to be done. */
async function newTenant() {
  const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID()], deps)
  const [hr = assert.fail(), other = assert.fail()] = connectors
  const caller = callerOf(tenantId)
  const person = { operation: 'upsert', objectType: 'identity', externalId: 'ada', data: { email: 'x' } } as const
  await writeObjects(tenantId, hr, [person], deps)
  const list = (joinOn: readonly string[], { id } = hr) => {
    return updateConnector(id, { joinOn: [...joinOn] }, undefined, caller, deps)
  }
  const pending = async () => {
    const found = await Promise.all([hr, other].map(({ id }) => deps.connectors.find(tenantId, id)))
    return found.map((stored) => stored?.value.keysPendingSinceMs)
  }
  audits.length = 0
  await list(BY_EMAIL.joinOn)
  const [delayed = assert.fail(), immediate = assert.fail()] = audits.splice(0)
  return { tenantId, hr, other, list, pending, delayed, immediate }
}

describe('A pending join key', () => {
  it('is in use once it was stored when no write goes on that does not know it', async () => {
    const { tenantId, hr, pending, delayed, immediate } = await newTenant()
    assert.deepEqual([delayed.delayMs, immediate.delayMs], [30_000, 0])
    assert.deepEqual(await pending(), [{ email: nowMs }, undefined])
    await auditCoreObjects(immediate.message, deps)
    assert.deepEqual(await pending(), [{ email: nowMs }, undefined])
    await auditCoreObjects(delayed.message, deps)
    assert.deepEqual(await pending(), [undefined, undefined])
    const stored = await deps.connectors.find(tenantId, hr.id)
    assert.deepEqual(stored?.lastChange?.after, { joinOn: BY_EMAIL.joinOn })
    assert.equal(stored?.earlierVersions?.length, 1)
  })

  it('is in use after an interruption at any call, with an audit that follows', async () => {
    let isInterrupted = true
    for (let callCount = 0; isInterrupted; callCount += 1) {
      const { pending, delayed } = await newTenant()
      isInterrupted = await auditCoreObjects(delayed.message, mortal(callCount)).then(
        () => false,
        () => true,
      )
      if (isInterrupted) await auditCoreObjects(delayed.message, deps)
      assert.deepEqual(await pending(), [undefined, undefined], `after ${callCount} calls`)
      assert.deepEqual(
        audits.map(({ message: { after, stage, hasOtherKeys } }) => [after, stage, hasOtherKeys]),
        [[FIRST_ID, undefined, true]],
      )
    }
  })

  it('stays pending where it was listed after storing began', async () => {
    const { tenantId, other, list, pending, delayed } = await newTenant()
    const firstMs = nowMs
    nowMs += 20_000
    await list(['nin', 'employeeNumber'], other)
    const secondMs = nowMs
    const later = { tenantId, after: '1', stage: 'keys', beganAtMs: nowMs + 60_000 } as const
    await auditCoreObjects(later, deps)
    assert.deepEqual(await pending(), [{ email: firstMs }, { employeeNumber: secondMs }])
    await auditCoreObjects({ ...later, pendingSinceMs: [firstMs] }, deps)
    assert.deepEqual(await pending(), [undefined, { employeeNumber: secondMs }])
    await auditCoreObjects(delayed.message, deps)
    assert.deepEqual(await pending(), [undefined, { employeeNumber: secondMs }])
  })

  it('is stored again by the next daily audit where storing it has failed', async () => {
    const { tenantId, pending } = await newTenant()
    nowMs += 86_400_000
    await auditCoreObjects({ tenantId }, deps)
    assert.deepEqual(await pending(), [undefined, undefined])
    const [next = assert.fail(), ...others] = audits.splice(0)
    assert.deepEqual([next.message.after, next.message.stage, others], [FIRST_ID, undefined, []])
    await auditCoreObjects(next.message, deps)
    assert.equal((await deps.audits.find(tenantId))?.completeAtMs, nowMs)
  })

  it('is stored also with those that share a transaction with an identity that others change', async () => {
    const { tenantId, hr, pending, delayed } = await newTenant()
    const people = ['bo', 'cy'].map((externalId) => {
      return { operation: 'upsert', objectType: 'identity', externalId, data: { email: externalId } } as const
    })
    await writeObjects(tenantId, hr, people, deps, [hr])
    let isChanged = false
    const write: typeof deps.objects.write = async (space, writes) => {
      if (!isChanged && writes.length > 0) {
        isChanged = true
        await writeObjects(tenantId, hr, [{ ...(people[0] ?? assert.fail()), data: { email: 'other' } }], deps, [hr])
      }
      return deps.objects.write(space, writes)
    }
    await auditCoreObjects(delayed.message, { ...deps, objects: { ...deps.objects, write } })
    assert.deepEqual([isChanged, await pending()], [true, [undefined, undefined]])
    const found = await deps.objects.identitiesByKeys(tenantId, new Map([['email', ['x', 'other', 'cy']]]))
    assert.deepEqual(found.map(({ value }) => value.externalId).sort(), ['ada', 'bo', 'cy'])
  })

  it('is none where no identity is stored', async () => {
    const { tenantId, connectors } = await newSourceTenant([randomUUID()], deps)
    const [hr = assert.fail()] = connectors
    const { value } = await updateConnector(hr.id, BY_EMAIL, undefined, callerOf(tenantId), deps)
    assert.equal(value.keysPendingSinceMs, undefined)
    audits.length = 0
  })
})
