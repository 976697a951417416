import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import type { EvaluationLeaseStore } from '../../shared/domain/evaluation/evaluation-lease.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT } from '../support/jobs/link-directory.ts'

it('An evaluation whose lease is taken before its end enqueues another one: the taker may have missed its writes', async () => {
  const fixture = await openAccountFixture()
  after(() => fixture.close())
  const { evaluationLeases: store } = fixture.coldProcess().collections
  const queuesAfter = async (isTaken: boolean) => {
    const save: EvaluationLeaseStore['save'] = async (tenantId, lease, version) => {
      if (isTaken && lease.untilMs === 0) throw new Refusal('StaleVersion')
      return store.save(tenantId, lease, version)
    }
    fixture.sentMessages.length = 0
    const { evaluator } = fixture.newService({ collections: { evaluationLeases: { ...store, save } } })
    await evaluator.evaluate(TENANT)
    return fixture.sentMessages.map(({ message }) => message.queue)
  }
  assert.deepEqual(await queuesAfter(false), [])
  assert.deepEqual(await queuesAfter(true), ['evaluations'])
})
