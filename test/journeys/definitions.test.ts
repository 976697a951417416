import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { applyPlan } from '../../infra/definitions/apply-plan.ts'
import { readDefinitionFiles } from '../../infra/definitions/definition-file.ts'
import { planDefinitions } from '../../infra/definitions/plan-definitions.ts'
import { runDefinitions } from '../../infra/definitions/run-definitions.ts'
import type { DefinitionPlan } from '../../infra/definitions/step.ts'
import { readTenant } from '../../infra/definitions/tenant.ts'
import { connect } from '../../infra/import/api-connection.ts'
import { type CommandOutcome, outcomeOf, startedCommand } from '../support/journeys/command.ts'
import { type ApiClient, asPerson, personToken } from '../support/journeys/demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../support/journeys/started-environment.ts'
import { signInAs } from '../support/local/signing-in-browser.ts'

const SCRIPT = join(import.meta.dirname, '../../infra/definitions/definitions.ts')
const CRITERIA = '/collections-criteria/beta'
const JOINABLE = '/collections-joinable/beta'

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
  const call = await callHere()
  const { refused } = await applyPlan(await planDefinitions([], await readTenant(call), true, call), call, SILENT)
  assert.equal(refused, undefined)
})

/** Runs a command on the folder in this process: one of its own takes longer to load modules than for most commands. */
async function run(command: string, ...more: string[]): Promise<CommandOutcome> {
  const said = { out: '', err: '' }
  const code = await runDefinitions(
    [command, folder, ...more],
    { API_URL: environment.apiUrl, TOKEN: token },
    {
      say: (line) => {
        said.out += `${line}\n`
      },
      sayError: (line) => {
        said.err += `${line}\n`
      },
    },
  )
  return { code, ...said }
}

/** Runs a command with any words in a process of its own. */
const runWith = (variables: Record<string, string>, ...words: string[]): Promise<CommandOutcome> =>
  outcomeOf(started(variables, ...words))

const started = (variables: Record<string, string>, ...words: string[]) =>
  startedCommand(SCRIPT, words, { API_URL: environment.apiUrl, ...variables })

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
    const exported = await runWith({ TOKEN: token }, 'export', folder)
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

  it('keeps the comments, the order and the style of files that exist, also under other names', async () => {
    const { staff } = await createDemo()
    assert.equal((await run('export')).code, 0)
    const text = `# Who works here
objectType: Relationship
name: 'Staff' # the key
condition:
  groupOperator: and
  conditions:
    # all schools
    - {id: memberOfCollection, field: memberOfCollection, operator: In, value: [{collection: "Lærere ved skolen"}]}
    - id: relationshipTitle
      field: relationshipTitle
      operator: NotEquals
      value: '007' # the agent
`
    rmSync(join(folder, 'collections/staff.yaml'))
    write({ 'mine.yml': text })
    assert.equal((await run('plan')).out, 'Nothing to do\n')
    assert.equal((await run('export')).code, 0)
    assert.equal(contents()['mine.yml'], text)
    const { status } = await administrator('PUT', `${CRITERIA}/${staff}`, {
      objectType: 'Relationship',
      description: 'New',
      condition: and(
        leaf('memberOfCollection', 'In', [await idOf('Lærere ved skolen')]),
        leaf('relationshipTitle', 'NotEquals', '008'),
      ),
    })
    assert.equal(status, 200)
    const exported = await run('export')
    assert.match(exported.out, /mine\.yml/)
    assert.equal(
      contents()['mine.yml'],
      `# Who works here
objectType: Relationship
name: 'Staff' # the key
condition:
  groupOperator: AND
  conditions:
    # all schools
    - { id: memberOfCollection, field: memberOfCollection, operator: In, value: [ { collection: "Lærere ved skolen" } ] }
    - id: relationshipTitle
      field: relationshipTitle
      operator: NotEquals
      value: "008" # the agent
description: New
`,
    )
  })

  it('names files of what the tenant does not have, and deletes them on request', async () => {
    await createDemo()
    write({ 'gone.yaml': collectionFile('Gone', 'Nurse') })
    assert.match((await run('export')).out, /not in the tenant: .*gone\.yaml/)
    assert.ok('gone.yaml' in contents())
    assert.match((await run('export', '--prune')).out, /deleted .*gone\.yaml/)
    assert.ok(!('gone.yaml' in contents()))
  })
})

describe('a plan', () => {
  it('shows the effect of a changed condition on members and groups, which apply makes', async () => {
    const { teachers } = await createDemo()
    assert.equal((await run('export')).code, 0)
    const path = 'collections/laerere-ved-skolen.yaml'
    write({ [path]: (contents()[path] ?? '').replace('value: Teacher', 'value: Nurse') })
    const { code, out } = await runWith({ TOKEN: token }, 'plan', folder)
    assert.equal(code, 2)
    assert.match(out, /^~ update criteria collection Lærere ved skolen \(condition\)$/m)
    assert.match(out, /^ {4}members: \d+ added, [1-9]\d* removed$/m)
    assert.match(out, /^ {4}members of Staff: \d+ added, [1-9]\d* removed$/m)
    assert.match(out, /^ {4}accounts in the group Demo security-1: \d+ added, \d+ removed/m)
    assert.match(out, /^0 to create, 1 to update, 0 to delete$/m)
    const json = JSON.parse((await run('plan', '--json')).out)
    const [change] = json.changes
    assert.equal(change.collections[0].collectionId, teachers)
    assert.ok(
      change.links.some(
        ({ directoryGroupId }: { directoryGroupId: string }) => directoryGroupId === groupId('Demo security-1'),
      ),
    )
    const applied = await run('apply')
    assert.equal(applied.code, 0, applied.err)
    assert.equal((await run('plan')).out, 'Nothing to do\n')
  })

  it('reports each mistake with file, line and column, and changes nothing', async () => {
    await createDemo()
    write({
      'syntax.yaml': 'name: A\nobjectType: [Identity\n',
      'shape.yaml': `${collectionFile('B', 'x')}colour: red\n`,
    })
    const unread = await run('apply')
    assert.equal(unread.code, 1)
    assert.match(unread.err, /syntax\.yaml:\d+:\d+: Flow sequence/)
    assert.match(unread.err, /shape\.yaml:\d+:1: There is no member colour here/)
    write({
      'syntax.yaml': collectionFile('A', 'x').replace('operator: Equals', 'operator: Resembles'),
      'shape.yaml': collectionFile('B', 'x'),
      'unknown.yaml': `${collectionFile('C', 'x')}    - id: memberOfCollection\n      field: memberOfCollection\n      operator: Equals\n      value: { collection: Nowhere }\n`,
      'same.yaml': collectionFile('B', 'y'),
      'link.yaml': 'collection: Staff\ngroup: No such group\n',
    })
    const { code, err } = await run('apply')
    assert.equal(code, 1)
    assert.match(err, /syntax\.yaml:8:17: .*Resembles/)
    assert.match(err, /unknown\.yaml:13:7: There is no collection Nowhere/)
    assert.match(err, /shape\.yaml:1:7: The collection B is already in .*same\.yaml/)
    assert.match(err, /link\.yaml:2:8: The directory finds no group No such group/)
    assert.equal((await names()).length, 3)
  })

  it('fails with exit code 1 for invalid arguments and without a sign-in', async () => {
    for (const [words, message] of [
      [['plan'], /Specify one folder/],
      [['destroy', '.'], /Specify one of the commands/],
      [['plan', '.', '--fast'], /--fast/],
      [['plan', '.'], /npm run definitions -- login --url/],
    ] as const) {
      const { code, err } = await runWith({ HOME: folder }, ...words)
      assert.equal(code, 1)
      assert.match(err, message)
      assert.match(err, /^definitions: [^\n]+\n$/)
    }
  })
})

describe('an apply', () => {
  it('stops at the first refusal, and says what was done and what was not', async () => {
    write({
      'a.yaml': collectionFile('A', 'Nurse'),
      'b.yaml': 'collection: A\ngroup: Demo dynamic\n',
      'c.yaml': 'collection: A\ngroup: Demo security-3\n',
    })
    const { code, out, err } = await runWith({ TOKEN: token }, 'apply', folder)
    assert.equal(code, 1)
    assert.match(out, /^done: \+ create criteria collection A$/m)
    assert.match(out, /^1 changes done, 2 not done$/m)
    assert.match(err, /^refused: \+ create link of the group Demo dynamic: .* 403: /m)
    assert.match(err, /^not done: \+ create link of the group Demo security-3$/m)
    assert.deepEqual(await names(), ['A'])
  })

  it('refuses to save over the changes of another person, and with another effect than was planned', async () => {
    const { teachers, staff } = await createDemo()
    assert.equal((await run('export')).code, 0)
    const text = contents()['collections/staff.yaml'] ?? ''
    write({ 'collections/staff.yaml': text.replace('"007"', '"008"') })
    const first = await plannedHere()
    await administrator('PUT', `${CRITERIA}/${staff}`, { objectType: 'Relationship', description: 'By another person' })
    assert.match(await refusalOf(first), /412/)
    write({ 'collections/staff.yaml': text.replace('NotEquals', 'Equals') })
    const second = await plannedHere()
    const condition = and(leaf('relationshipTitle', 'IsNull', undefined))
    await administrator('PUT', `${CRITERIA}/${teachers}`, { objectType: 'Relationship', condition })
    assert.match(await refusalOf(second), /409.*planned effect/)
  })

  it('leaves what is not in the folder as it is, and deletes it with --prune', async () => {
    await createDemo()
    write({ 'a.yaml': collectionFile('A', 'Nurse'), 'link.yaml': 'collection: A\ngroup: Demo security-1\n' })
    const refused = await run('plan')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /link\.yaml:2:8: The group is linked to Lærere ved skolen\. --prune deletes that link first/,
    )
    write({ 'link.yaml': 'collection: A\ngroup: Demo security-4\n' })
    assert.equal((await run('apply')).code, 0)
    assert.deepEqual(await names(), ['A', 'Club', 'Lærere ved skolen', 'Staff'])
    const pruned = await run('apply', '--prune')
    assert.equal(pruned.code, 0, pruned.err)
    assert.match(pruned.out, /- delete link of the group Demo security-1\n {4}the group keeps its members/)
    assert.deepEqual(await names(), ['A'])
  })

  it('creates and deletes joinable collections that refer to each other', async () => {
    const policy = (other: string) => `name: ${other === 'P' ? 'Q' : 'P'}
objectType: Identity
joinPolicy:
  approvalRequired: true
  approvalGates:
    - order: 1
      type: Collection
      approvers:
        - collection: ${other}
`
    write({ 'p.yaml': policy('Q'), 'q.yaml': policy('P') })
    const { code, out, err } = await run('apply')
    assert.equal(code, 0, out + err)
    assert.equal((await run('plan', '--prune')).out, 'Nothing to do\n')
  })
})

describe('a login', () => {
  it('keeps tokens that only their owner can read, for the commands after it', async () => {
    await createDemo()
    const home = newDataFolder()
    const child = started({ HOME: home }, 'login')
    let out = ''
    for await (const chunk of child.stdout) {
      const isNew = !out.includes('https://') && !out.includes('/authorize')
      out += chunk
      const url = /^(http\S+authorize\S+)$/m.exec(out)?.[1]
      const person = environment.demo.tenants[0]?.people.find(({ name }) => name === 'admin')
      if (isNew && url !== undefined) void signInAs(person?.username ?? '', url)
    }
    assert.match(out, /^Signed in as \S+$/m)
    const file = join(home, '.config/collections-service/sign-ins.json')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const exported = await runWith({ HOME: home }, 'export', folder)
    assert.equal(exported.code, 0, exported.err)
    // An expired token is renewed.
    const stored = JSON.parse(readFileSync(file, 'utf8'))
    for (const signIn of Object.values<{ expiresAtMs: number; accessToken: string }>(stored)) {
      signIn.expiresAtMs = 0
      signIn.accessToken = 'expired'
    }
    writeFileSync(file, JSON.stringify(stored))
    assert.equal((await runWith({ HOME: home }, 'plan', folder)).out, 'Nothing to do\n')
    assert.equal(statSync(file).mode & 0o777, 0o600)
  })
})

function collectionFile(name: string, title: string): string {
  return `name: ${name}
objectType: Relationship
condition:
  groupOperator: AND
  conditions:
    - id: relationshipTitle
      field: relationshipTitle
      operator: Equals
      value: ${title}
`
}

async function names(): Promise<string[]> {
  const { json } = await administrator<{ name: string }[]>('GET', '/collections/beta')
  return json.data.map(({ name }) => name)
}

async function idOf(name: string): Promise<string> {
  const { json } = await administrator<{ id: string; name: string }[]>('GET', '/collections/beta')
  return json.data.find((collection) => collection.name === name)?.id ?? assert.fail(name)
}

const SILENT = { done: () => undefined, plannedAgain: () => undefined }

const callHere = () => connect({ apiUrl: environment.apiUrl, token, credentials: undefined })

async function plannedHere(): Promise<DefinitionPlan> {
  const call = await callHere()
  const { files } = readDefinitionFiles(folder)
  const plan = await planDefinitions(files, await readTenant(call), false, call)
  assert.deepEqual([plan.faults, plan.steps.length], [[], 1])
  return plan
}

/** Applies a plan that is refused at its first step. @returns the reason */
async function refusalOf(plan: DefinitionPlan): Promise<string> {
  const { done, refused } = await applyPlan(plan, await callHere(), SILENT)
  assert.deepEqual(done, [])
  return refused?.error.message ?? ''
}
