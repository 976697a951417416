import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { signInAs } from '../local/signing-in-browser.ts'
import { type ApiClient, asPerson, personToken } from './demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from './started-environment.ts'

const SCRIPT = join(import.meta.dirname, '../../infra/definitions/definitions.ts')
const CRITERIA = '/collections-criteria/beta'
const JOINABLE = '/collections-joinable/beta'

type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }
type Collection = { readonly id: string; readonly name: string }

let environment: StartedEnvironment
let administrator: ApiClient
let token: string
let folder: string

before(async () => {
  environment = await startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '60' })
  administrator = await asPerson(environment, 'admin')
  token = await personToken(environment, 'admin')
})
after(() => environment.stop())

/** Each test starts with a tenant without definitions. */
beforeEach(async () => {
  folder = join(newDataFolder(), 'definitions')
  mkdirSync(folder)
  const { code, out, err } = await run('apply', '--prune')
  assert.equal(code, 0, out + err)
})

/** Runs a command on the folder, or with other words. */
async function run(command: string, ...more: string[]): Promise<Outcome> {
  return runWith({ TOKEN: token }, command, folder, ...more)
}

async function runWith(variables: Record<string, string>, ...words: string[]): Promise<Outcome> {
  const child = started(variables, ...words)
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, ...said }
}

function started(variables: Record<string, string>, ...words: string[]) {
  const env = { PATH: process.env.PATH ?? '', API_URL: environment.apiUrl, ...variables }
  return spawn(process.execPath, [SCRIPT, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

/** The files of the folder with their contents. */
function contents(): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  )
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const and = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })

async function created(path: string, body: object): Promise<string> {
  const { status, json } = await administrator<string>('POST', path, body)
  assert.equal(status, 201, JSON.stringify(json))
  return json.data
}

/** Collections of both kinds that refer to each other, and two links. */
async function createDemo(): Promise<{ teachers: string; staff: string; club: string }> {
  const teachers = await created(CRITERIA, {
    objectType: 'Relationship',
    name: 'Lærere ved skolen',
    description: 'All teachers\nof the town',
    metadata: { tags: ['school', 'b'], attributes: { owner: 'hr', area: '7' } },
    condition: and(leaf('relationshipTitle', 'Contains', 'Teacher')),
  })
  const staff = await created(CRITERIA, {
    objectType: 'Relationship',
    name: 'Staff',
    condition: and(leaf('memberOfCollection', 'In', [teachers]), leaf('relationshipTitle', 'NotEquals', '007')),
  })
  const club = await created(JOINABLE, {
    objectType: 'Identity',
    name: 'Club',
    joinPolicy: {
      approvalRequired: true,
      approvalGates: [
        { order: 2, type: 'Collection', approvers: [staff] },
        { order: 1, type: 'Manager' },
      ],
      joinableBy: { collectionIds: [teachers] },
    },
  })
  for (const [collectionId, group] of [
    [teachers, 'Demo security-1'],
    [staff, 'Demo security-2'],
  ]) {
    await created('/group-link/beta/group-links', { collectionId, directoryGroupId: groupId(group ?? '') })
  }
  return { teachers, staff, club }
}

function groupId(displayName: string): string {
  const group = environment.demo.tenants[0]?.groups.find((known) => known.displayName === displayName)
  return group?.id ?? assert.fail(`There is no group ${displayName}`)
}

describe('an export', () => {
  it('writes files by which a plan finds nothing to do, and which build the same tenant again', async () => {
    await createDemo()
    const exported = await run('export')
    assert.equal(exported.code, 0, exported.err)
    const first = contents()
    assert.deepEqual(Object.keys(first), [
      'collections/club.yaml',
      'collections/laerere-ved-skolen.yaml',
      'collections/staff.yaml',
      'definitions.schema.json',
      'links/demo-security-1.yaml',
      'links/demo-security-2.yaml',
      'settings.yaml',
    ])
    assert.equal(
      first['collections/staff.yaml'],
      `# yaml-language-server: $schema=../definitions.schema.json

name: Staff
objectType: Relationship
condition:
  groupOperator: AND
  conditions:
    - id: memberOfCollection
      field: memberOfCollection
      operator: In
      value:
        - collection: Lærere ved skolen
    - id: relationshipTitle
      field: relationshipTitle
      operator: NotEquals
      value: "007"
`,
    )
    const plan = await run('plan')
    assert.deepEqual(plan, { code: 0, out: 'Nothing to do\n', err: '' })
    const away = folder
    folder = join(newDataFolder(), 'empty')
    mkdirSync(folder)
    const wiped = await run('apply', '--prune')
    assert.equal(wiped.code, 0, wiped.err)
    folder = away
    const applied = await run('apply')
    assert.equal(applied.code, 0, applied.out + applied.err)
    folder = join(newDataFolder(), 'again')
    const again = await run('export')
    assert.equal(again.code, 0, again.err)
    assert.deepEqual(contents(), first)
    assert.equal((await run('plan', '--prune')).code, 0)
  })
})
