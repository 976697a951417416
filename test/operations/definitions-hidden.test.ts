import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readDefinitionFiles } from '../../infra/definitions/definition-file.ts'
import { exportDefinitions } from '../../infra/definitions/export-definitions.ts'
import { planDefinitions } from '../../infra/definitions/plan-definitions.ts'
import { readTenant } from '../../infra/definitions/tenant.ts'
import type { ApiCall } from '../../infra/import/api-connection.ts'
import { callAs } from '../support/api/definitions-call.ts'
import { equals, joinableFixture } from '../support/api/joinable-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'definitions-hidden-'))
after(() => rmSync(folder, { recursive: true }))

describe('A file with hidden values', () => {
  it('is named by the export, and changes nothing when somebody applies it who may read them', async () => {
    const fixture = await joinableFixture()
    const administrator = fixture.caller('user', ['collection_criteria_definition-administrator', 'Administrator'])
    const body = { objectType: 'Identity', name: 'One', condition: equals('identityNin', '01019012345') }
    await fixture.call(administrator, 'POST', '/collections-criteria/beta', body)
    const open = { ...body, name: 'Two', condition: equals('identityDisplayName', 'hidden') }
    await fixture.call(administrator, 'POST', '/collections-criteria/beta', open)
    const asApplication = callAs(fixture, fixture.writer)
    const exported = await exportDefinitions(folder, await readTenant(asApplication), false, asApplication)
    assert.deepEqual(exported.withHiddenValues, [join(folder, 'collections/one.yaml')])
    const asAdministrator = callAs(fixture, administrator)
    const plan = async (tenantCall: ApiCall) => {
      const tenant = await readTenant(tenantCall)
      const { files } = readDefinitionFiles(folder)
      const collections = files.filter(({ kind }) => kind === 'criteria')
      return planDefinitions(collections, tenant, false, tenantCall)
    }
    assert.deepEqual(await plan(asAdministrator).then(({ steps, faults }) => [steps, faults]), [[], []])
    const other = await joinableFixture()
    const elsewhere = callAs(
      other,
      other.caller('user', ['collection_criteria_definition-administrator', 'Administrator']),
    )
    const { steps, faults } = await plan(elsewhere)
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['Two'],
    )
    assert.match(faults[0]?.message ?? '', /^hidden stands for a stored value/)
    const read = await exportDefinitions(folder, await readTenant(asAdministrator), false, asAdministrator)
    assert.deepEqual(read.withHiddenValues, [])
  })
})
