import assert from 'node:assert/strict'
import { ServiceBusClient, type ServiceBusClientOptions } from '@azure/service-bus'
import {
  type LocalServiceBus,
  type LocalServiceBusOptions,
  startServiceBus,
} from '../../infra/local/service-bus/broker.ts'

export type BusTest = (bus: LocalServiceBus, client: ServiceBusClient) => Promise<void>

/** Runs a test with its own broker. An error of the broker fails the test. */
export async function withBus(
  options: Partial<LocalServiceBusOptions> & Pick<LocalServiceBusOptions, 'queues'>,
  clientOptions: ServiceBusClientOptions,
  test: BusTest,
): Promise<void> {
  const faults: unknown[] = []
  const onFault = (fault: unknown): void => void faults.push(fault)
  const bus = await startServiceBus({ port: 0, file: ':memory:', onFault, ...options })
  const client = new ServiceBusClient(bus.connectionString, clientOptions)
  try {
    await test(bus, client)
  } finally {
    await client.close()
    await bus.close()
  }
  assert.deepEqual(faults, [])
}
