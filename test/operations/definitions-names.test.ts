import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { stringify } from 'yaml'
import { applyPlan } from '../../infra/definitions/apply-plan.ts'
import { readDefinitionFiles } from '../../infra/definitions/definition-file.ts'
import { planDefinitions } from '../../infra/definitions/plan-definitions.ts'
import { readTenant } from '../../infra/definitions/tenant.ts'
import { callAs } from '../support/api/definitions-call.ts'
import { equals, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'definitions-names-'))
after(() => rmSync(folder, { recursive: true }))

const SILENT = { done: () => undefined, plannedAgain: () => undefined }

const DEFINITIONS = {
  criteria: { condition: equals('identityDisplayName', 'Ada') },
  joinable: { joinPolicy: OPEN },
} as const

describe('A new collection', () => {
  for (const kind of ['criteria', 'joinable'] as const) {
    it(`of the kind ${kind} is created once by two runs at the same time, and the second is refused`, async () => {
      const fixture = await joinableFixture()
      const call = callAs(fixture, fixture.admin)
      const definition = { name: 'Choir', objectType: 'Identity', ...DEFINITIONS[kind] }
      writeFileSync(join(folder, 'choir.yaml'), stringify(definition))
      const plan = async () => planDefinitions(readDefinitionFiles(folder).files, await readTenant(call), false, call)
      const [first, second] = [await plan(), await plan()]
      assert.equal((await applyPlan(first, call, SILENT)).refused, undefined)
      const { refused, done } = await applyPlan(second, call, SILENT)
      const message = 'Another person or run has created a collection with this name'
      assert.deepEqual([refused?.error.message, done], [message, []])
      assert.deepEqual(await plan().then(({ steps, faults }) => [steps, faults]), [[], []])
    })
  }
})

it('Ids of a join policy in capital letters are the same ids', async () => {
  const fixture = await joinableFixture()
  const call = callAs(fixture, fixture.admin)
  const [collectionId, approver] = [await fixture.joinable(OPEN), await fixture.person()]
  const collectionIds = [collectionId.toUpperCase()]
  const gate = { order: 1, type: 'Identity', approvers: [approver.identityId.toUpperCase()] }
  const joinPolicy = { approvalRequired: true, approvalGates: [gate], joinableBy: { collectionIds } }
  writeFileSync(join(folder, 'choir.yaml'), stringify({ name: 'Orchestra', objectType: 'Identity', joinPolicy }))
  const plan = async () => planDefinitions(readDefinitionFiles(folder).files, await readTenant(call), false, call)
  assert.equal((await applyPlan(await plan(), call, SILENT)).refused, undefined)
  assert.deepEqual(await plan().then(({ steps, faults }) => [steps, faults]), [[], []])
})
