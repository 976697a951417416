import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CONNECTORS, coreDataServiceOfTests, newTenantWithHr } from '../support/api/core-data-service.ts'
import { newFolder, runImportOf } from '../support/api/import-of-files.ts'

const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
const service = await coreDataServiceOfTests(() => clock.nowMs)

const HOUR_MS = 60 * 60_000

describe('A connector whose files are imported', () => {
  it('is late after a run that delivers nothing, and healthy after one that finds no differences', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { expectedIntervalHours: 24 })
    const health = async () => {
      const { body } = await tenant.admin('GET', `${CONNECTORS}/${hr.id}`)
      return [body.data.health, body.data.lastDeliveredAt]
    }
    const folder = newFolder()
    writeFileSync(join(folder, 'identities.csv'), 'externalId,displayName\nada,Ada\n')
    writeFileSync(join(folder, 'orgunits.csv'), 'externalId\nschool\n')
    const said: string[] = []
    const run = (isDryRun = false) => runImportOf(hr, folder, (line) => void said.push(line), isDryRun)
    assert.equal(await run(), 0)
    assert.deepEqual(await health(), ['Healthy', '2030-01-01T00:00:00+00:00'])
    clock.nowMs += 30 * HOUR_MS
    assert.equal(await run(true), 0)
    assert.deepEqual(await health(), ['Late', '2030-01-01T00:00:00+00:00'])
    said.length = 0
    assert.equal(await run(), 0)
    assert.deepEqual(said.slice(-2), [
      'Plan: 0 to create, 0 to update, 0 to delete, 2 unchanged',
      'Done: 0 written, 2 unchanged, 0 failed',
    ])
    assert.deepEqual(await health(), ['Healthy', '2030-01-02T06:00:00+00:00'])
  })
})
