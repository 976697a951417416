import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { applicationToken, groupMembers, personToken } from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import { newDataFolder, type StartedEnvironment } from '../support/journeys/started-environment.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')
const DRIVER_URL = import.meta.resolve('../support/journeys/generated-client/driver.ts')

/** What the driver sees of the generated types. */
const AMBIENT = `import type { components, paths } from './collections-api.mts'
declare global {
  type CollectionsApi = paths
  type CollectionsSchemas = components['schemas']
}
`

/** Generates the client's types from the description into a new folder, with what it takes to compile the driver. */
async function generateClient(): Promise<string> {
  const folder = newDataFolder()
  const nodes = await openapiTS(serviceDocument() as Parameters<typeof openapiTS>[0])
  writeFileSync(join(folder, 'collections-api.mts'), astToString(nodes))
  writeFileSync(join(folder, 'ambient.mts'), AMBIENT)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(PROJECT_FOLDER, 'node_modules/@types')],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  }
  const files = [join(folder, 'ambient.mts'), fileURLToPath(DRIVER_URL)]
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return folder
}

/** What the compiler complains of. */
function complaintsOf(folder: string): Promise<string> {
  const compiler = join(PROJECT_FOLDER, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, '-p', folder], (error, stdout) =>
      resolve(stdout || (error === null ? '' : error.message)),
    )
  })
}

describe('a client that is generated from the description', () => {
  let environment: StartedEnvironment
  let complaints: string

  before(async () => {
    ;[environment, complaints] = await Promise.all([sharedEnvironment(60), generateClient().then(complaintsOf)])
  })

  it('has types that accept the calls of the driver and reject invalid calls', () => assert.equal(complaints, ''))

  it('runs the main job: collect, link, sync, join', async () => {
    const { drive } = await import(DRIVER_URL)
    const [first, second] = environment.demo.tenants[0]?.groups.filter(({ kind }) => kind === 'security') ?? []
    const groupIds = [first?.id ?? '', second?.id ?? '']
    const tokens = {
      writer: await applicationToken(environment, 'writer', environment.demo.scope),
      employee: await personToken(environment, 'employee'),
      manager: await personToken(environment, 'manager'),
    }
    const outcome = await drive({ apiUrl: environment.apiUrl, tokens, groupIds })
    assert.ok(outcome.memberIds.length > 0)
    const { firstJob, secondJob } = outcome
    assert.deepEqual([firstJob.type, firstJob.status, secondJob.type], ['LinkCreated', 'Succeeded', 'ManualSync'])
    assert.deepEqual([secondJob.status, secondJob.added, secondJob.removed], ['Succeeded', 0, 0])
    assert.equal((await groupMembers(environment, groupIds[0] ?? '')).length, firstJob.added)
    assert.equal(outcome.request.status, 'Joined')
    assert.deepEqual(outcome.joinedIds, [outcome.request.requesterId])
    const employee = environment.demo.tenants[0]?.people.find(({ name }) => name === 'employee')
    assert.deepEqual(await groupMembers(environment, groupIds[1] ?? ''), [employee?.objectId])
    assert.deepEqual(outcome.refusalCodes, ['MissingMember', 'UnknownGroupOperator', 'GroupAlreadyLinked'])
  })
})
