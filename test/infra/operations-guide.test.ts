import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { describe, it } from 'node:test'
import { CONTAINERS } from '../../shared/cosmos/containers.ts'
import { instanceWriteBudget } from '../../shared/domain/sync/write-budget.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { appSettingsOf, deployed } from '../support/infra/deployed.ts'
import { projectFiles, projectFolder, readProjectText } from '../support/infra/project-facts.ts'

const GUIDES = [...projectFiles('*.md'), ...projectFiles('.github/*.md'), ...projectFiles('infra/**/*.md')]
const operations = readProjectText('infra/operations/README.md')

/** The first group of every match, each once, in order. */
const named = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))].sort()

/** The names in the first or second column of a table of the operations guide. */
const namedInTable = (heading: string, cell: 1 | 2): string[] => {
  const section = operations.slice(operations.indexOf(heading)).split('\n#')[0] ?? ''
  const cells = section.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[cell] ?? ''] : []))
  return cells.flatMap((text) => named(text, /`([\w-]+)`/g)).sort()
}

describe('the operations guide', () => {
  it('lists every function', () => {
    const triggers = projectFiles('functions/*.ts').map(readProjectText)
    const functions = triggers.flatMap((text) => named(text, /^app\.\w+\(\s*'([\w-]+)'/gm)).sort()
    assert.ok(functions.length > 15, functions.join())
    assert.deepEqual(namedInTable('### Functions and queues', 1), functions)
  })

  it('lists every queue', () =>
    assert.deepEqual(namedInTable('### Functions and queues', 2), QUEUES.map(({ name }) => name).sort()))

  it('lists every container', () =>
    assert.deepEqual(namedInTable('### Containers', 1), CONTAINERS.map(({ id }) => id).sort()))
})

/** The writes that one instance reserves of these limits: at once, and in the time window of a tenant after that. */
function reservedBy(limits: { writesPerTenant: number; writesTotal: number }): number[] {
  let elapsedMs = 0
  const budget = instanceWriteBudget({ ...limits, elapsedMs: () => elapsedMs })
  return [0, 150_000].map((atMs) => {
    elapsedMs = atMs
    let writeCount = 0
    while (budget.reserve('tenant', 1, 'change') === 0) writeCount += 1
    return writeCount
  })
}

describe('a function that the operations guide calls manual', () => {
  const manual = named(operations, /^\| `([\w-]+)` +\| Manual /gm)
  const settings = appSettingsOf(deployed({ environmentName: 'prod' }))
  const disabled = Object.keys(settings).flatMap((name) => named(name, /^AzureWebJobs\.(.+)\.Disabled$/g))

  it('is run by no schedule in Azure', () => {
    assert.ok(manual.length >= 2, manual.join())
    assert.deepEqual(manual, disabled.sort())
    for (const name of manual) assert.equal(settings[`AzureWebJobs.${name}.Disabled`], 'true')
  })

  it('has a name that can be disabled on Linux', () => {
    for (const name of manual) assert.doesNotMatch(name, /-/)
  })
})

describe('the operations guide on a restore', () => {
  const section = (operations.split('## Back up and restore')[1] ?? '').split('\n## ')[0] ?? ''

  it('lets no sync run before the current data is imported and the sweep has run', () => {
    const steps = [
      '--status ReceiveDisabled',
      'Start the function app',
      'npm run import',
      '/admin/functions/',
      'preview`',
    ]
    const places = [...steps, '--status Active'].map((text) => section.indexOf(text))
    assert.ok(places.every((place) => place > 0))
    assert.deepEqual(
      places,
      places.toSorted((left, right) => left - right),
    )
  })

  it('closes the queues of the functions that write to groups, end memberships and tell people', () => {
    const [, queues] = /for queue in ([a-z -]+); do az servicebus queue update/.exec(section) ?? []
    const closed = ['deadlines', 'event-deliveries', 'mails', 'membership-changes', 'sync-jobs']
    assert.deepEqual(queues?.split(' ').sort(), closed)
  })
})

describe('the operations guide on writes to the directory', () => {
  it('states the shares of an instance', () => {
    assert.deepEqual(reservedBy({ writesPerTenant: 2400, writesTotal: 56_000 }), [1200, 1200])
    assert.deepEqual(reservedBy({ writesPerTenant: 56_000, writesTotal: 56_000 }), [14_000, 7000])
    const text = operations.replaceAll(/\s+/g, ' ')
    assert.match(
      text,
      /An instance uses half of this limit for a tenant and a quarter of the limit for all directories/,
    )
    assert.match(text, /three instances that write for the same tenant at once exceed its limit/)
    assert.doesNotMatch(text, /exceeded by \d+ %/)
  })
})

describe('the commands', () => {
  it('run every benchmark by its name', () => {
    const listed = execFileSync(process.execPath, ['test/tools/run-named.ts', 'bench'], {
      cwd: projectFolder,
      encoding: 'utf8',
    })
    const files = projectFiles('test/tools/bench/*.bench.ts').map((file) => basename(file, '.bench.ts'))
    assert.deepEqual(named(listed, /^ {2}([a-z-]+) /gm), files)
  })
})

describe('the guides', () => {
  it('describe the meaning and the action of every alert', () => {
    const alerts = named(readProjectText('infra/modules/alerts.bicep'), /^ {2}(?: {2})?name: '([a-z-]+)'$/gm)
    assert.ok(alerts.length >= 5, alerts.join())
    const table = operations.slice(operations.indexOf('## Alerts'))
    assert.deepEqual(named(table, /^\| `([a-z-]+)` +\| \S.{10,}\| \S.{10,}\|$/gm), alerts)
  })

  it('name existing settings of the platform only', () => {
    const settings = readProjectText('infra/modules/app-settings.bicep')
    const names = named(GUIDES.map(readProjectText).join('\n'), /`([A-Za-z]+(?:__\w+)+)/g)
    assert.ok(names.length >= 3, names.join())
    assert.deepEqual(
      names.filter((name) => !settings.includes(`${name}:`)),
      [],
    )
  })

  it('name the same permissions of Microsoft Graph for the registration', () => {
    const permissions = (text: string) => named(text, /`([A-Z][A-Za-z]+\.(?:Read|ReadWrite)\.All)`/g)
    const [, needed = ''] =
      /\*\*Application permissions of Microsoft Graph\*\*:([\s\S]*?) which /.exec(operations) ?? []
    const [, prerequisites = ''] = /## Prerequisites\n([\s\S]*?)\n## /.exec(readProjectText('infra/README.md')) ?? []
    assert.deepEqual(permissions(needed), ['Directory.Read.All', 'GroupMember.ReadWrite.All'])
    assert.deepEqual(permissions(prerequisites), permissions(needed))
  })

  it('list the change from serverless among those that the templates cannot make, and say what can', () => {
    const deploy = readProjectText('infra/README.md')
    const [, impossible = ''] =
      /\nSome changes are not possible after the deployment:\n([\s\S]*?)\n\nWith/.exec(deploy) ?? []
    assert.match(impossible, /from serverless to autoscale\b[^-]*\(#leave-the-serverless-mode\)/)
    assert.match(deploy, /\n### Leave the serverless mode\n/)
    const [throttled = ''] = /^\| `database-throttled`.*$/m.exec(operations) ?? []
    assert.match(throttled, /README\.md#leave-the-serverless-mode/)
    assert.doesNotMatch(throttled, /change `cosmosMode`/)
  })

  it('name existing queues only', () => {
    const replayed = named(operations, /--queue ([a-z-]+)/g)
    assert.ok(replayed.length > 0)
    assert.deepEqual(
      replayed.filter((name) => !QUEUES.some((queue) => queue.name === name)),
      [],
    )
  })

  for (const guide of GUIDES) {
    it(`name existing commands only: ${guide}`, () => {
      const { scripts } = JSON.parse(readProjectText('package.json')) as { scripts: Record<string, string> }
      const commands = named(readProjectText(guide), /\bnpm run ([a-z:-]+)/g)
      assert.deepEqual(
        commands.filter((name) => scripts[name] === undefined),
        [],
      )
    })
  }

  for (const [topic, words] of [
    ['deployment', /azd up/],
    ['the admin consent URL', /\/adminconsent\?client_id=/],
    ['roles', /## Consent and roles/],
    ['rotation', /## Rotate/],
    ['restore', /az cosmosdb restore/],
    ['upgrades', /## Deploy and upgrade/],
    ['dead letters', /npm run dead-letters -- replay/],
  ] as const) {
    it(`describe ${topic}`, () => assert.match(operations, words))
  }
})
