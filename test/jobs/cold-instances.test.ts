import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceBusFunction } from '../../infra/local/host/app-functions.ts'
import { openServiceBus } from '../../infra/local/host/bus-client.ts'
import { readHostJson } from '../../infra/local/host/host-settings.ts'
import { startPump } from '../../infra/local/host/service-bus-pump.ts'
import { startServiceBus } from '../../infra/local/service-bus/broker.ts'
import { messageSender } from '../../shared/messaging/message-sender.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { criteriaTenant, startCriteriaService, startsWith } from '../api/criteria-service.ts'
import { projectFolder } from '../infra/project-facts.ts'

const QUEUE = 'tenant-evaluations'
const INSTANCE_COUNT = 10
const CHANGE_COUNT = 40

const service = await startCriteriaService()

/** Instances that receive evaluations. `evaluated` names the instance of each, by tenant. */
async function startInstances(connectionString: string, evaluated: Map<string, Set<number>>) {
  const { serviceBus } = await readHostJson(projectFolder)
  const registered = { triggerName: 'message', queueName: QUEUE, connectionName: 'ServiceBus', takesSessions: true }
  return Promise.all(
    Array.from({ length: INSTANCE_COUNT }, (_, instance) => {
      const { evaluator } = service.newProcess()
      return startPump({
        functions: [
          { ...registered, name: `instance-${instance}`, connection: { connectionString } } as ServiceBusFunction,
        ],
        serviceBus,
        openBus: openServiceBus,
        invoke: async (_, { inputData }) => {
          const { tenantId } = JSON.parse(String(inputData?.[0]?.data?.string)) as { tenantId: string }
          await evaluator.evaluate(tenantId)
          evaluated.set(tenantId, new Set(evaluated.get(tenantId)).add(instance))
          return {}
        },
        log: () => undefined,
      })
    }),
  )
}

describe('Instances that have just started', () => {
  it('do not each load a tenant whose people change several times a second: one does', async () => {
    const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
    const messageQueue = messageSender(bus, Date.now)
    const evaluated = new Map<string, Set<number>>()
    const instances = await startInstances(bus.connectionString, evaluated)
    try {
      const tenants = [criteriaTenant(service), criteriaTenant(service), criteriaTenant(service)]
      const collections = await Promise.all(tenants.map((tenant) => tenant.create(startsWith('Person'))))
      for (let change = 0; change < CHANGE_COUNT; change += 1) {
        for (const { tenantId, person } of tenants) {
          await person(`Person ${change}`)
          await messageQueue.enqueue({ queue: QUEUE, message: { tenantId } }, { id: `${tenantId} ${change}` })
        }
        await sleep(20)
      }
      for (;;) {
        const { active, locked } = bus.counts(QUEUE)
        if (active + locked === 0) break
        await sleep(20)
      }
      for (const [index, tenant] of tenants.entries())
        assert.equal((await tenant.members(collections[index] as string)).length, CHANGE_COUNT)
      assert.deepEqual(
        tenants.map(({ tenantId }) => evaluated.get(tenantId)?.size),
        [1, 1, 1],
      )
    } finally {
      await Promise.all(instances.map((instance) => instance.close()))
      await bus.close()
    }
  })
})
