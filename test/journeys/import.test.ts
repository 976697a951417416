import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { importCommand } from '../../infra/import/import-command.ts'
import { progressOn } from '../../infra/import/terminal.ts'
import type { ConnectorObjectDto } from '../../shared/domain/connectors/connector-object.ts'
import { type CommandOutcome, outcomeOf, startedCommand } from '../support/journeys/command.ts'
import { type ApiClient, applicationToken, asApplication } from '../support/journeys/demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../support/journeys/started-environment.ts'

const SCRIPT = join(import.meta.dirname, '../../infra/import/import.ts')
const CONNECTORS = '/iamcore/beta/sync/connectors'

let environment: StartedEnvironment
let operator: ApiClient
let connector: ApiClient
let token: string
let connectorId: string
let folder: string

before(async () => {
  environment = await startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '0' })
  operator = await asApplication(environment, 'operator')
  connector = await asApplication(environment, 'connector')
  token = await applicationToken(environment, 'connector', environment.demo.scope)
})
after(() => environment.stop())

beforeEach(async () => {
  const clientId = environment.demo.tenants[0]?.apps.find(({ name }) => name === 'connector')?.clientId
  connectorId = (await operator<string>('POST', CONNECTORS, { name: 'Import', clientId })).json.data
  folder = join(newDataFolder(), 'files')
  mkdirSync(folder)
})

function write(files: Record<string, string>): void {
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

/** Runs an import in this process: a process of its own takes longer to load modules than for most of these imports. */
async function run(words: readonly string[], variables: Record<string, string> = {}): Promise<CommandOutcome> {
  const said = { out: '', err: '' }
  const sayError = (text: string): void => {
    said.err += text
  }
  const code = await importCommand(
    words,
    { API_URL: environment.apiUrl, TOKEN: token, ...variables },
    {
      say: (line) => {
        said.out += `${line}\n`
      },
      sayError: (line) => sayError(`${line}\n`),
      progress: progressOn({ write: sayError }, Date.now),
      ask: undefined,
    },
  )
  return { code, ...said }
}

/** Runs an import in a process of its own. */
const runAlone = (words: readonly string[], variables: Record<string, string> = {}): Promise<CommandOutcome> =>
  outcomeOf(startedCommand(SCRIPT, words, { API_URL: environment.apiUrl, TOKEN: token, ...variables }))

const runImport = (...more: string[]): Promise<CommandOutcome> => run([folder, '--connector', connectorId, ...more])

/** The objects of the connector, by type and external id. */
async function space(): Promise<Record<string, unknown>> {
  const { json } = await connector<ConnectorObjectDto[]>('GET', `${CONNECTORS}/${connectorId}/data`)
  return Object.fromEntries(json.data.map(({ objectType, externalId, data }) => [`${objectType} ${externalId}`, data]))
}

const TOWN = {
  'identities.csv':
    '\uFEFFexternalId,displayName,primaryRelationship,custom/badge,directoryOnPremisesSyncEnabled\r\nada,"Lovelace, ""Ada"" of London",r1,A|1,true\r\nbob,Bob,,,\r\n',
  'orgunits.csv': 'externalId,displayName,parent,deputies\nroot,Root,,\nshop,Shop,root,ada|bob\n',
  'relationships.jsonl':
    '{"externalId":"r1","data":{"title":"Engineer","identity":{"externalId":"ada"},"orgUnit":{"externalId":"shop"}}}\n',
}

describe('an import of files', () => {
  it('imports CSV and JSON lines, and sends unchanged objects only once', async () => {
    write(TOWN)
    const first = await runAlone([folder, '--connector', connectorId])
    assert.equal(first.code, 0, first.err + first.out)
    assert.match(first.out, /Done: 5 written, 0 unchanged, 0 failed/)
    assert.deepEqual(await space(), {
      'identity ada': {
        displayName: 'Lovelace, "Ada" of London',
        primaryRelationship: { externalId: 'r1' },
        'custom/badge': 'A|1',
        directoryOnPremisesSyncEnabled: true,
      },
      'identity bob': { displayName: 'Bob' },
      'orgUnit root': { displayName: 'Root' },
      'orgUnit shop': {
        displayName: 'Shop',
        parent: { externalId: 'root' },
        deputies: [{ externalId: 'ada' }, { externalId: 'bob' }],
      },
      'relationship r1': { title: 'Engineer', identity: { externalId: 'ada' }, orgUnit: { externalId: 'shop' } },
    })
    write({ ...TOWN, 'orgunits.csv': TOWN['orgunits.csv'].replace('Shop', 'Store') })
    const second = await runImport()
    assert.match(second.out, /Plan: 0 to create, 1 to update, 0 to delete, 4 unchanged/)
    assert.match(second.out, /Done: 1 written, 4 unchanged, 0 failed/)
  })

  it('reports each invalid line, also those that the service refuses, and imports the rest', async () => {
    write({
      'identities.csv':
        'externalId,displayName,directoryObjectId\nada,Ada,no-guid\nbob,Bob,\nbob,Twice,\n,Nobody,\ncy,Cy\n',
      'orgunits.csv': 'externalId,parent,shoeSize\na,a,\nb,,38\nc,,\n',
      'relationships.jsonl': '{"externalId":"r1"\n{"externalId":"r2","data":{"title":"Fine"}}\n',
    })
    const { code, out } = await runImport()
    assert.equal(code, 1)
    const place = (name: string) => join(folder, name)
    for (const line of [
      `${place('identities.csv')}:2: directoryObjectId must be a GUID`,
      `${place('identities.csv')}:4: identity bob is already in ${place('identities.csv')}:3`,
      `${place('identities.csv')}:5: externalId is required`,
      `${place('identities.csv')}:6: the line has 2 fields, the header has 3`,
      `${place('orgunits.csv')}:2: An org unit cannot be its own parent`,
      `${place('orgunits.csv')}:3: orgUnit has no attribute shoeSize`,
      'Attributes of orgUnit: joinScope,',
      `${place('relationships.jsonl')}:1: invalid JSON`,
    ]) {
      assert.ok(out.includes(line), `${line}\nis not in\n${out}`)
    }
    assert.deepEqual(Object.keys(await space()).sort(), ['identity bob', 'orgUnit c', 'relationship r2'])
  })

  it('counts references that lead nowhere and prints the first ten, without failing', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `r${index},nobody\n`).join('')
    write({ 'relationships.csv': `externalId,identity\n${lines}` })
    const { code, out } = await runImport()
    assert.equal(code, 0)
    assert.ok(out.includes('12 references to objects that do not exist\n'), out)
    assert.equal(out.match(/relationships\.csv:\d+: identity leads to no object/g)?.length, 10)
    assert.ok(out.includes('... and 2 more'))
  })

  it('reads files of different formats, and reports how it read them', async () => {
    write({ 'identities.csv': 'externalId;displayName\nada;"Ada; 1,5"\n', 'orgunits.csv': '\uFEFFexternalId\na\n' })
    writeFileSync(
      join(folder, 'relationships.csv'),
      Buffer.from('externalId\ttitle\nr\tF\u00f6rest\u00e5ndare\n', 'latin1'),
    )
    const refused = await runAlone([folder, '--connector', connectorId])
    assert.equal(refused.code, 2)
    assert.match(
      refused.err,
      /relationships\.csv:2: the line is not valid UTF-8\. Nothing was sent\. .* --encoding windows-1252\n$/,
    )
    assert.deepEqual(await space(), {})
    const { code, out, err } = await runImport('--encoding', 'windows-1252')
    assert.equal(code, 0, err + out)
    for (const line of [
      'orgunits.csv: UTF-8 with byte order mark, delimiter comma',
      'identities.csv: Windows-1252, delimiter semicolon',
      'relationships.csv: Windows-1252, delimiter tab',
    ]) {
      assert.ok(out.includes(`${join(folder, line)}\n`), `${line}\nis not in\n${out}`)
    }
    assert.deepEqual(await space(), {
      'identity ada': { displayName: 'Ada; 1,5' },
      'orgUnit a': {},
      'relationship r': { title: 'Föreståndare' },
    })
  })

  it('makes no changes in a dry run', async () => {
    write(TOWN)
    const { code, out } = await runImport('--dry-run')
    assert.equal(code, 0)
    assert.match(out, /Dry run: 5 to create, 0 to update, 0 to delete, 0 unchanged/)
    assert.deepEqual(await space(), {})
  })

  it('deletes missing objects only on request, and many of them only after confirmation', async () => {
    write(TOWN)
    await runImport()
    write({ 'orgunits.csv': TOWN['orgunits.csv'], 'identities.csv': 'externalId\neve\n' })
    assert.match((await runImport()).out, /2 objects of the connector are not in the files/)
    const refused = await runAlone([folder, '--connector', connectorId, '--delete-missing'])
    assert.equal(refused.code, 1)
    assert.match(refused.err, /^import: 2 of 3 objects of type identity would be deleted\. Confirm with --yes$/m)
    assert.match(
      refused.out,
      /^No objects of type relationship are deleted because the files have no lines of that type$/m,
    )
    assert.equal(Object.keys(await space()).length, 6)
    const told = await runImport('--delete-missing', '--yes')
    assert.equal(told.code, 0, told.err)
    const kept = ['identity eve', 'orgUnit root', 'orgUnit shop', 'relationship r1']
    assert.deepEqual(Object.keys(await space()).sort(), kept)
  })

  it('deletes nothing if a line is invalid', async () => {
    write(TOWN)
    await runImport()
    write({ ...TOWN, 'identities.csv': 'externalId,displayName\nada,"never closed\n' })
    const { code, out } = await runImport('--delete-missing', '--yes')
    assert.equal(code, 1)
    assert.match(out, /identities\.csv:2: a quoted field is not closed/)
    assert.match(out, /No objects are deleted/)
    assert.equal(Object.keys(await space()).length, 5)
  })
})

describe('an import over a bad connection', () => {
  it('retries after 429, 5xx and lost connections', async () => {
    const troubles = [429, 503, 'reset', 500] as const
    let count = 0
    const proxy = createServer(async (request, response) => {
      const trouble = troubles[count++]
      if (trouble === 'reset') return void request.socket.destroy()
      if (trouble !== undefined) return void response.writeHead(trouble, { 'retry-after': '0' }).end('busy')
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method = 'GET', url = '', headers } = request
      const answer = await fetch(environment.apiUrl + url, {
        method,
        headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      })
      response.writeHead(answer.status).end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as { port: number }
    write(TOWN)
    const { code, err } = await run([folder, '--connector', connectorId, '--api-url', `http://127.0.0.1:${port}`])
    proxy.close()
    proxy.closeAllConnections()
    assert.equal(code, 0, err)
    assert.equal(Object.keys(await space()).length, 5)
  })

  it('requests a token with client credentials', async () => {
    write(TOWN)
    const tenant = environment.demo.tenants[0]
    const app = tenant?.apps.find(({ name }) => name === 'connector')
    const { code, err } = await runAlone([folder, '--connector', connectorId], {
      TOKEN: '',
      CLIENT_ID: app?.clientId ?? '',
      CLIENT_SECRET: app?.clientSecret ?? '',
      TENANT_ID: tenant?.tenantId ?? '',
      AUTHORITY_URL: environment.directoryUrl,
      SCOPE: environment.demo.scope,
      NODE_EXTRA_CA_CERTS: environment.caFile,
    })
    assert.equal(code, 0, err)
  })
})

describe('an import without credentials', () => {
  const local = () => ({ TOKEN: '', DIRECTORY_URL: environment.directoryUrl, DATA_DIR: dirname(environment.caFile) })

  it('uses those of the demo application on one machine', async () => {
    write(TOWN)
    const { code, out, err } = await runAlone([folder, '--connector', connectorId], local())
    assert.equal(code, 0, err + out)
    assert.match(out, /Done: 5 written, 0 unchanged, 0 failed/)
  })

  for (const [where, variables] of [
    ['the API is elsewhere', { API_URL: 'https://localhost.example.com' }],
    ['a client is named', { CLIENT_ID: 'c' }],
  ] as const) {
    it(`asks no directory where ${where}`, async () => {
      let requestCount = 0
      const server = createServer((_, response) => {
        requestCount += 1
        response.end('{}')
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const directory = { DIRECTORY_URL: `http://127.0.0.1:${port}` }
      const { code, err } = await runAlone(['.', '--connector', 'x'], { ...local(), ...directory, ...variables })
      server.close()
      assert.deepEqual([code, requestCount], [2, 0], err)
      assert.match(err, /Set TOKEN, or CLIENT/)
    })
  }
})

describe('an import with invalid arguments', () => {
  it('prints the usage without arguments', async () => {
    const { code, out } = await runAlone([], {})
    assert.deepEqual([code, out.split(' [')[0]], [0, 'usage: npm run import -- <folder or file> --connector <id>'])
  })

  for (const [claim, words, variables, code, message] of [
    ['without a file', ['--connector', 'x'], {}, 2, /Specify one folder or file/],
    ['without a connector', ['.'], {}, 2, /--connector <id> is required/],
    ['with an unknown option', ['.', '--fast'], {}, 2, /--fast/],
    [
      'with an unknown encoding',
      ['.', '--connector', 'x', '--encoding', 'latin1'],
      {},
      2,
      /--encoding must be utf-8 or/,
    ],
    [
      'without credentials for an API elsewhere',
      ['.', '--connector', 'x', '--api-url', 'https://api.example.com'],
      { TOKEN: '' },
      2,
      /Set TOKEN, or CLIENT_ID/,
    ],
    [
      'with only a part of the credentials',
      ['.', '--connector', 'x', '--client-id', 'c'],
      { TOKEN: '' },
      2,
      /Set TOKEN, or CLIENT_SECRET/,
    ],
    [
      'without credentials where no local directory answers',
      ['.', '--connector', 'x'],
      { TOKEN: '', DIRECTORY_URL: 'https://localhost:1' },
      2,
      /No demo credentials at https:\/\/localhost:1\/local\/demo/,
    ],
    ['for a missing file', ['./nowhere', '--connector', 'x'], {}, 2, /File or folder not found/],
    ['for an empty folder', [import.meta.dirname, '--connector', 'x'], {}, 2, /does not contain orgunits/],
    ['for an unknown connector', [], {}, 1, /404/],
  ] as const) {
    it(`fails ${claim} with one line and exit code ${code}`, async () => {
      write(TOWN)
      const unknown = [folder, '--connector', '11111111-1111-4111-8111-111111111111']
      const outcome = await run(words.length === 0 ? unknown : words, variables)
      assert.equal(outcome.code, code, outcome.err)
      assert.match(outcome.err, message)
      assert.match(outcome.err, /^import: [^\n]+\n$/)
    })
  }
})
