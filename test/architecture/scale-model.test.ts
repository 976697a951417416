import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CEILINGS, combined, forecast, type MeasuredWork, type Work } from '../tools/bench/scale-model.ts'
import { simulatedLoads } from '../tools/bench/simulated-loads.ts'

const work = (counts: Partial<Work>): Work => ({ ...combined([]), ...counts })

const MEASURED: MeasuredWork = {
  sweep: work({ requestUnits: 2010, messages: 51, executions: 51, directoryCalls: 100 }),
  sweptChanges: work({ requestUnits: 20, messages: 1, executions: 1 }),
  coldEvaluation: work({ requestUnits: 100 }),
  loadedRow: work({ requestUnits: 0.005 }),
  savedRow: work({ requestUnits: 0.025 }),
  audit: work({ requestUnits: 24 }),
  auditedChange: work({ requestUnits: 1 }),
  auditedRow: work({ requestUnits: 2.52 }),
  change: work({ requestUnits: 100, messages: 2, executions: 3, directoryCalls: 1, directoryWrites: 1 }),
  read: work({ requestUnits: 5, executions: 1 }),
  timer: work({ requestUnits: 3, executions: 1 }),
}

const WORKLOAD = {
  tenants: 10,
  rowsPerTenant: 8_000,
  changesPerTenantHour: 5,
  readsPerTenantHour: 60,
  peakFactor: 2,
  loadsPerTenantHour: 0,
  coldEvaluationsPerTenantHour: 0,
}

describe('The scale model', () => {
  it('computes the cost of a month by its formulas', () => {
    const { perMonth } = forecast(MEASURED, WORKLOAD)
    assert.equal(perMonth.requestUnits, 730 * (10 * (2010 + 20 + 1 + 5 + 10 + 10 + 5 * 100 + 60 * 5) + 60 * 3))
    assert.equal(perMonth.busOperations, 730 * 10 * (51 + 1 + 5 * 2) * 3)
    assert.equal(perMonth.directoryCalls, 730 * 10 * (100 + 5))
  })

  it('charges loads of rows', () => {
    const { perMonth } = forecast(MEASURED, {
      ...WORKLOAD,
      tenants: 40,
      loadsPerTenantHour: 0.5,
      coldEvaluationsPerTenantHour: 0.5,
    })
    assert.equal(
      perMonth.requestUnits,
      730 * (40 * (2010 + 20 + 26 + 0.5 * (8_000 * 0.005 + 100) + 5 * 100 + 60 * 5) + 60 * 3),
    )
  })

  it('simulates that rows are loaded once per instance where they fit, and by most evaluations where they do not', async () => {
    const run = { rowsPerTenant: 8_000, rowsPerInstance: 80_000, instances: 2, lifeHours: 24, changesPerTenantHour: 2 }
    const fitting = await simulatedLoads({ ...run, tenants: 10 })
    assert.ok(fitting <= 4 / 24, `${fitting}`)
    const most = await simulatedLoads({ ...run, tenants: 1_000 })
    assert.ok(most > 1.9 && most < 2, `${most}`)
  })

  it('finds the first resource to reach its limit and the number of tenants at that point', () => {
    const { firstBottleneck, maxTenants, utilisation } = forecast(MEASURED, WORKLOAD)
    assert.equal(firstBottleneck, 'requestUnits')
    assert.equal(Math.max(...Object.values(utilisation)), utilisation.requestUnits)
    const perTenantS = (2010 + 20 + 26 + 5 * 100 + 60 * 5) / 3600
    const exact = CEILINGS.requestUnits.limitPerS / (perTenantS * 2)
    assert.ok(Math.abs(maxTenants - exact) / exact < 0.01)
  })
})
