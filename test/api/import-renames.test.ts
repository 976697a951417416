import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { ApiCall } from '../../infra/import/api-connection.ts'
import { connectorSpace } from '../../infra/import/connector-space.ts'
import { digestOfData } from '../../infra/import/plan-import.ts'
import { runImport } from '../../infra/import/run-import.ts'
import { coreDataServiceOfTests, newTenantWithHr, to, upsert } from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()
const folder = mkdtempSync(join(tmpdir(), 'import-renames-'))
after(() => rmSync(folder, { recursive: true }))

describe('An import that renames people', () => {
  it('keeps a person who gets the former name of another, with the references that mean them', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('identity', 'a', { displayName: 'Ada' }),
      upsert('identity', 'b', { displayName: 'Bo' }),
      upsert('orgUnit', 'school', { manager: to('a') }),
      upsert('orgUnit', 'office', { manager: to('b') }),
      upsert('relationship', 'job', { identity: to('b') }),
    )
    const idOf = async (displayName: string): Promise<string> => {
      const people = await tenant.all('identities')
      return people.find((person: { displayName: string }) => person.displayName === displayName)?.id
    }
    const before = [await idOf('Ada'), await idOf('Bo')]
    writeFileSync(join(folder, 'orgunits.csv'), 'externalId,manager\nschool,b\noffice,b\n')
    writeFileSync(
      join(folder, 'identities.csv'),
      'externalId,previousExternalId,displayName\nb,a,Ada\nc,b,Bo\nd,,Dan\n',
    )
    writeFileSync(join(folder, 'relationships.csv'), 'externalId,identity\njob,c\n')
    const said: string[] = []
    const run = async (): Promise<number> => {
      const call: ApiCall = async (method, path, body) => (await hr.send(method, path, body)).body
      const space = connectorSpace(hr.id, call, digestOfData)
      const connection = { apiUrl: '', token: undefined, credentials: undefined }
      const flags = { encoding: 'utf-8', isDryRun: false, deletesMissing: true, isConfirmed: true } as const
      const options = { path: folder, connectorId: hr.id, ...flags, connection }
      const progress = { show: () => undefined, end: () => undefined }
      return runImport(options, { space, progress, ask: undefined, say: (line) => void said.push(line) })
    }
    assert.equal(await run(), 0)
    assert.equal(said.at(-1), 'Done: 6 written, 0 unchanged, 0 failed')
    assert.deepEqual([await idOf('Ada'), await idOf('Bo')], before)
    const [ada, bo] = before.map((objectId) => ({ objectId }))
    assert.deepEqual((await tenant.byExternalId('orgunits', 'school')).manager, ada)
    assert.deepEqual((await tenant.byExternalId('orgunits', 'office')).manager, ada)
    assert.deepEqual((await tenant.byExternalId('relationships', 'job')).identity, bo)
    assert.equal(await run(), 0)
    assert.equal(said.at(-1), 'Done: 0 written, 6 unchanged, 0 failed')
  })
})
