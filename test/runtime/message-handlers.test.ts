import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { evaluationMessages, linkMessages } from '../../functions/app/message-handlers.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'

const message = { tenantId: '00000000-0000-4000-8000-000000000001' }

describe('A message', () => {
  it('of an evaluation registers the tenant first: else no sweep finds it when the evaluation fails', async () => {
    const calls: string[] = []
    const evaluate = async () => {
      calls.push('evaluated')
      throw new Error('The database is away')
    }
    const register = async (tenantId: string) => void calls.push(tenantId)
    await assert.rejects(evaluationMessages({ evaluate }, { register }).evaluations.handle(message), /away/)
    assert.deepEqual(calls, [message.tenantId, 'evaluated'])
  })

  it('of a sweep tells of late connectors also when the sweep of links fails, which is then repeated', async () => {
    const told: string[] = []
    const links = {
      settings: { register: () => Promise.reject(new Error('The database is away')) },
      metrics: { record: () => undefined },
    } as unknown as SyncDependencies
    const tellHealth = async (tenantId: string) => void told.push(tenantId)
    const { sweeps } = linkMessages(links, { forget: async () => undefined }, tellHealth)
    await assert.rejects(sweeps.handle(message), /away/)
    assert.deepEqual(told, [message.tenantId])
  })
})
