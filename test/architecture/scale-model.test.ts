import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CEILINGS, combined, forecast, type MeasuredWork, type Work } from '../bench/scale-model.ts'

const work = (counts: Partial<Work>): Work => ({ ...combined([]), ...counts })

const MEASURED: MeasuredWork = {
  sweptTenant: work({ requestUnits: 10, messages: 2, executions: 2 }),
  sweptLink: work({ requestUnits: 40, messages: 1, executions: 1, directoryCalls: 2 }),
  loadedRow: work({ requestUnits: 0.1 }),
  auditedRow: work({ requestUnits: 0.24 }),
  change: work({ requestUnits: 100, messages: 2, executions: 3, directoryCalls: 1, directoryWrites: 1 }),
  read: work({ requestUnits: 5, executions: 1 }),
  timer: work({ requestUnits: 3, executions: 1 }),
}

const WORKLOAD = {
  tenants: 10,
  linksPerTenant: 50,
  rowsPerTenant: 8_000,
  changesPerTenantHour: 5,
  readsPerTenantHour: 60,
  peakFactor: 2,
  rowsPerInstance: 160_000,
}

describe('The scale model', () => {
  it('computes the cost of a month by its formulas', () => {
    const { perMonth, coldShare } = forecast(MEASURED, WORKLOAD)
    assert.equal(coldShare, 0)
    assert.equal(perMonth.requestUnits, 730 * (10 * (10 + 50 * 40 + 80 + 5 * 100 + 60 * 5) + 60 * 3))
    assert.equal(perMonth.busOperations, 730 * 10 * (2 + 50 + 5 * 2) * 3)
    assert.equal(perMonth.directoryCalls, 730 * 10 * (50 * 2 + 5))
  })

  it('charges sweeps for loading the rows that do not fit into the memory of an instance', () => {
    const { perMonth, coldShare } = forecast(MEASURED, { ...WORKLOAD, tenants: 40 })
    assert.equal(coldShare, 0.5)
    assert.equal(
      perMonth.requestUnits,
      730 * (40 * (10 + 50 * 40 + 80 + 0.5 * 8_000 * 0.1 + 5 * 100 + 60 * 5) + 60 * 3),
    )
  })

  it('finds the first resource to reach its limit and the number of tenants at that point', () => {
    const warm = { ...WORKLOAD, rowsPerInstance: 1e9 }
    const { firstBottleneck, tenantsAtMost, utilisation } = forecast(MEASURED, warm)
    assert.equal(firstBottleneck, 'requestUnits')
    assert.equal(Math.max(...Object.values(utilisation)), utilisation.requestUnits)
    const perTenantS = (10 + 50 * 40 + 80 + 5 * 100 + 60 * 5) / 3600
    const exact = CEILINGS.requestUnits.limitPerS / (perTenantS * 2)
    assert.ok(Math.abs(tenantsAtMost - exact) / exact < 0.01)
  })
})
