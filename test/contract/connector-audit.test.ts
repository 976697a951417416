import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { listConnectorAudit } from '../../shared/domain/connectors/connector-audit.ts'
import { createConnector, deleteConnector, updateConnector } from '../../shared/domain/connectors/manage-connectors.ts'
import { builtService } from '../support/api/built-service.ts'
import { mortalDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'

const ONE = '00000000-0000-4000-8000-000000000001'
const TWO = '00000000-0000-4000-8000-000000000002'

let nowMs = Date.parse('2030-01-15T01:00:00Z')
const { cosmos, container } = await startDirectAccount(() => nowMs)
cosmos.unref()
const parts = { nowMs: () => nowMs, elapsedMs: () => nowMs }
const deps = builtService(container, parts).connectors

/** A service that ends before its call of the database of this number. */
const mortal = (callsLeft: number) => builtService(mortalDatabase(cosmos, callsLeft), parts).connectors

const callerOf = (tenantId: string, objectId: string) =>
  ({ kind: 'application', tenantId, objectId, clientId: undefined, roles: new Set<never>() }) as const

const actionsOf = async (tenantId: string, id: string) =>
  (await listConnectorAudit(tenantId, id, { after: undefined, size: 100 }, deps)).items.map(
    ({ action, actorId, after }) => `${action} ${actorId === ONE ? 'one' : 'two'} ${after.name}`,
  )

describe('The audit of a connector', () => {
  it('has each change that was made, once, wherever the changes are interrupted', async () => {
    let isInterrupted = true
    for (let callCount = 0; isInterrupted; callCount += 1) {
      const tenantId = randomUUID()
      const caller = callerOf(tenantId, ONE)
      const [clientId, names] = [randomUUID(), ['Created one HR']]
      const id = await createConnector({ name: 'HR', clientId }, caller, deps).then((connector) => connector.id)
      const using = mortal(callCount)
      const run = async () => {
        for (const name of ['A', 'B']) {
          nowMs += 1000
          await updateConnector(id, { name }, undefined, caller, using)
        }
      }
      isInterrupted = await run().then(
        () => false,
        () => true,
      )
      const stored = (await deps.connectors.find(tenantId, id))?.value.name
      if (stored !== 'HR') names.unshift('Updated one A')
      if (stored === 'B') names.unshift('Updated one B')
      if (callCount % 2 === 0) assert.deepEqual(await actionsOf(tenantId, id), names)
      nowMs += 1000
      await updateConnector(id, { name: 'C' }, undefined, callerOf(tenantId, TWO), deps)
      assert.deepEqual(await actionsOf(tenantId, id), ['Updated two C', ...names])
    }
  })

  it('names one deletion, by whom it was begun, wherever it is interrupted', async () => {
    let isInterrupted = true
    let begunCount = 0
    for (let callCount = 0; isInterrupted; callCount += 1) {
      const tenantId = randomUUID()
      const created = await createConnector({ name: 'HR', clientId: randomUUID() }, callerOf(tenantId, ONE), deps)
      nowMs += 1000
      isInterrupted = await deleteConnector(created.id, undefined, callerOf(tenantId, ONE), mortal(callCount)).then(
        () => false,
        () => true,
      )
      nowMs += 1000
      if (isInterrupted) await deleteConnector(created.id, undefined, callerOf(tenantId, TWO), deps)
      const actions = await actionsOf(tenantId, created.id)
      assert.match(actions[0] ?? '', /^Deleted (one|two) undefined$/)
      assert.deepEqual(actions.slice(1), ['Created one HR'])
      if (isInterrupted && actions[0] === 'Deleted one undefined') begunCount += 1
    }
    assert.ok(begunCount > 0)
  })
})
