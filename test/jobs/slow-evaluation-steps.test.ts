import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EVALUATION_LEASE_MS } from '../../shared/domain/evaluation/evaluation-lease.ts'
import type { EvaluatedDependencies } from '../../shared/domain/evaluation/tenant-evaluator.ts'
import { criteriaTenant, startCriteriaService, startsWith } from '../support/api/criteria-service.ts'

const service = await startCriteriaService({ databaseSharesClock: true })

/** What an evaluator does before and after it evaluates collections. */
type Step = 'reconciliation' | 'joined members' | 'links'

const SLOW_STEPS: readonly (readonly [string, Step])[] = [
  ['while it brings requests in line', 'reconciliation'],
  ['while it reads the members of collections by request', 'joined members'],
  ['while it notifies links', 'links'],
]

describe('An evaluator of a tenant keeps the others away', () => {
  for (const [claim, slow] of SLOW_STEPS) {
    it(`${claim}, although this takes twice as long as its lease lasts`, async ({ mock }) => {
      mock.timers.enable({ apis: ['setInterval'] })
      const tenant = criteriaTenant(service)
      const ann = await tenant.person('Ann')
      const collection = await tenant.create(startsWith('A'))
      const { evaluationLeases, joined, links } = service.process
      const second = service.newProcess()
      let written: Promise<unknown> = Promise.resolve()
      /** Before the step ends, the other evaluator tries. */
      const during = async (step: Step) => {
        if (step !== slow) return
        for (let times = 0; times < 4; times += 1) {
          service.clock.nowMs += EVALUATION_LEASE_MS / 2
          mock.timers.tick(EVALUATION_LEASE_MS / 2)
          await written
        }
        await second.evaluator.evaluate(tenant.tenantId)
      }
      const parts: Partial<EvaluatedDependencies> = {
        evaluationLeases: {
          ...evaluationLeases,
          save: (...lease) => {
            const saved = evaluationLeases.save(...lease)
            written = saved.catch(() => undefined)
            return saved
          },
        },
        joined: {
          ...joined,
          revisions: async (...asked) => during('joined members').then(() => joined.revisions(...asked)),
        },
        links: { ...links, linkedCollections: async (id) => during('links').then(() => links.linkedCollections(id)) },
      }
      const reconciler = { reconcile: async () => during('reconciliation').then(() => false) }
      const first = service.newProcess(parts, {}, { reconciler })
      await first.evaluator.evaluate(tenant.tenantId)
      assert.equal(second.sentMessages.length, 1)
      assert.deepEqual(first.sentMessages, [])
      assert.deepEqual(await tenant.members(collection), [ann])
    })
  }
})
