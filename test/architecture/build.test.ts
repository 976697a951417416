import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'
import { packageApp, shippedPackages } from '../../infra/build/package.ts'
import { billOfMaterials } from '../../infra/build/sbom.ts'
import { APP_SETTINGS } from '../support/architecture/settings-to-load.ts'
import { asApplication, eventually, groupMembers } from '../support/journeys/demo-clients.ts'
import { newDataFolder, startedEnvironment } from '../support/journeys/started-environment.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** Every function and its trigger. */
const FUNCTIONS = {
  'api-document': 'httpTrigger',
  'apply-deadlines': 'serviceBusTrigger',
  'apply-membership-changes': 'serviceBusTrigger',
  'audit-tenant': 'serviceBusTrigger',
  collections: 'httpTrigger',
  'collections-criteria': 'httpTrigger',
  'collections-joinable': 'httpTrigger',
  connectors: 'httpTrigger',
  'connectors-reading': 'httpTrigger',
  console: 'httpTrigger',
  'core-objects': 'httpTrigger',
  'deliver-events': 'serviceBusTrigger',
  'send-mails': 'serviceBusTrigger',
  docs: 'httpTrigger',
  'evaluate-collections': 'serviceBusTrigger',
  'group-link': 'httpTrigger',
  health: 'httpTrigger',
  'publish-events': 'serviceBusTrigger',
  ready: 'httpTrigger',
  'run-sync-job': 'serviceBusTrigger',
  sweep: 'timerTrigger',
  sweepAfterRestore: 'timerTrigger',
  'schedule-sweeps': 'timerTrigger',
  'sweep-tenant': 'serviceBusTrigger',
  'zz-unknown-path': 'httpTrigger',
}

/** Twice what it takes. The service with all its packages is a hundred times as much. */
const MAX_HEALTH_BYTES = 48 * 1024

type LockedPackages = Record<string, { dev?: boolean }>

describe('The package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'collections-package-'))
  const zipFile = join(folder, 'app.zip')
  const appFolder = join(folder, 'app')
  let files: Record<string, Uint8Array>

  before(async () => {
    await packageApp(PROJECT_FOLDER, zipFile)
    files = unzipSync(readFileSync(zipFile))
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(appFolder, path)), { recursive: true })
      writeFileSync(join(appFolder, path), content)
    }
  })
  after(() => rmSync(folder, { recursive: true }))

  it('registers every function and no others, in a clean folder and a new process', () => {
    const script = join(import.meta.dirname, '../support/architecture/registered-functions.ts')
    const output = execFileSync(process.execPath, [script, appFolder], { env: APP_SETTINGS, encoding: 'utf8' })
    assert.deepEqual(JSON.parse(output), FUNCTIONS)
  })

  it('names an invalid setting and does not start', () => {
    const script = join(import.meta.dirname, '../support/architecture/registered-functions.ts')
    const env = { ...APP_SETTINGS, COSMOS_ENDPOINT: 'nowhere' }
    assert.throws(
      () => execFileSync(process.execPath, [script, appFolder], { env, encoding: 'utf8', stdio: 'pipe' }),
      /COSMOS_ENDPOINT must be an HTTP or HTTPS URL/,
    )
  })

  it('contains the bundle, host.json, a manifest without scripts and the unbundled packages, and nothing else', () => {
    const paths = Object.keys(files)
    assert.deepEqual([...new Set(paths.map((path) => path.split('/')[0]))].sort(), [
      'dist',
      'host.json',
      'node_modules',
      'package.json',
    ])
    for (const path of paths) assert.doesNotMatch(path, /(\.ts|\.test\.js|\.env|settings[^/]*\.json|\.pem|\.sqlite)$/)
    const manifest = JSON.parse(Buffer.from(files['package.json'] ?? []).toString())
    assert.equal(manifest.main, 'dist/functions/*.js')
    assert.deepEqual(
      ['scripts', 'devDependencies'].filter((member) => member in manifest),
      [],
    )
  })

  it('contains no development dependency', () => {
    const { packages } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package-lock.json'), 'utf8')) as {
      packages: LockedPackages
    }
    const shipped = new Set(
      Object.keys(files).flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
    )
    assert.ok(shipped.has('node_modules/@azure/functions'))
    for (const each of shipped) {
      assert.ok(packages[each] !== undefined, each)
      assert.notEqual(packages[each]?.dev, true, each)
    }
  })

  it('has a bill of materials that names every package whose code it contains', () => {
    const packageOf = (path: string): string[] =>
      path.match(/(?<=.*node_modules\/)(?:@[^/]+\/)?[^/]+/g)?.slice(-1) ?? []
    const maps = Object.entries(files).filter(([path]) => path.startsWith('dist/') && path.endsWith('.map'))
    const bundled = maps.flatMap(([, map]) => JSON.parse(Buffer.from(map).toString()).sources as string[])
    const imported = globSync('functions/console/**/*.{ts,tsx}', { cwd: PROJECT_FOLDER })
      .map((file) => readFileSync(join(PROJECT_FOLDER, file), 'utf8'))
      .flatMap((text) => [...text.matchAll(/ from '((?:@[^/']+\/)?[a-z][^/']*)/g)].map(([, name = '']) => name))
    const contained = new Set([...[...Object.keys(files), ...bundled].flatMap(packageOf), ...imported])
    for (const name of ['@azure/cosmos', '@azure/functions', 'preact']) assert.ok(contained.has(name), name)
    const named = new Set(billOfMaterials(PROJECT_FOLDER).components.map(({ name }) => name))
    assert.deepEqual(
      [...contained].filter((name) => !named.has(name)),
      [],
    )
    for (const name of ['typescript', 'playwright-core']) assert.ok(!named.has(name), name)
  })

  const textOf = (path: string) => Buffer.from(files[path] ?? []).toString()
  /** Of what later code shares with the entry file. */
  const isReference = (path: string) => textOf(path) === 'export * from "../functions/all-triggers.js"\n'

  it('has a source map for every file of the bundle that contains code', () => {
    const bundled = Object.keys(files).filter((path) => /^dist\/(?!console\/).*\.js$/.test(path))
    const scripts = bundled.filter((path) => !isReference(path))
    assert.ok(scripts.length < bundled.length)
    const sources = new Set<string>()
    for (const path of scripts) {
      const map = JSON.parse(textOf(`${path}.map`))
      assert.match(textOf(path), /\n\/\/# sourceMappingURL=\S+\.js\.map\n?$/)
      for (const source of map.sources) sources.add(join(dirname(path), source))
    }
    for (const trigger of globSync('functions/*.ts', { cwd: PROJECT_FOLDER })) assert.ok(sources.has(trigger), trigger)
  })

  it('reads one file and no package but the Functions library before the first invocation', () => {
    const entry = 'dist/functions/all-triggers.js'
    const imported = [...textOf(entry).matchAll(/^(?:import .*|\} )from "([^"]+)";$/gm)].map(([, from = '']) => from)
    assert.deepEqual(
      [...new Set(imported)].filter((from) => !from.startsWith('node:')),
      ['@azure/functions'],
    )
    const { sources } = JSON.parse(textOf(`${entry}.map`)) as { sources: readonly string[] }
    assert.ok(sources.some((source) => source.endsWith('shared/settings/settings.ts')))
    assert.deepEqual(
      sources.filter((source) => source.includes('node_modules')),
      [],
    )
  })

  it('loads a few small files and no package for the answer of /health', () => {
    const script = join(import.meta.dirname, '../support/architecture/loaded-by-health.ts')
    const output = execFileSync(process.execPath, [script, appFolder], { env: APP_SETTINGS, encoding: 'utf8' })
    const { status, loaded } = JSON.parse(output) as { status: number; loaded: string[] }
    assert.equal(status, 200)
    assert.ok(loaded.length > 0)
    assert.deepEqual(
      loaded.filter((url) => url.includes('node_modules')),
      [],
    )
    const loadedBytes = loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0)
    assert.ok(loadedBytes <= MAX_HEALTH_BYTES, `${loadedBytes} bytes: ${loaded.join(', ')}`)
  })

  it('is identical, byte for byte, when it is built again', async () => {
    const again = join(folder, 'again.zip')
    await packageApp(PROJECT_FOLDER, again)
    assert.ok(readFileSync(again).equals(readFileSync(zipFile)))
  })

  it('syncs a collection to a group: every client library is in the package', async () => {
    const environment = await startedEnvironment(newDataFolder(), { APP_DIR: appFolder, DEMO_IDENTITIES: '10' })
    try {
      const writer = await asApplication(environment, 'writer')
      const condition = {
        groupOperator: 'NOT',
        conditions: [{ id: 'identityDirectoryObjectId', field: 'identityDirectoryObjectId', operator: 'IsNull' }],
      }
      const created = await writer<string>('POST', '/collections-criteria/beta', {
        objectType: 'Identity',
        name: 'All who have an account',
        condition,
      })
      const groupId = environment.demo.tenants[0]?.groups.find(({ kind }) => kind === 'security')?.id ?? ''
      const link = { collectionId: created.json.data, directoryGroupId: groupId }
      assert.equal((await writer('POST', '/group-link/beta/group-links', link)).status, 201)
      const members = await eventually('members in the directory', async () => {
        const found = await groupMembers(environment, groupId)
        return found.length > 0 ? found : undefined
      })
      assert.ok(members.length > 5)
      const page = await (await fetch(`${environment.apiUrl}/docs`)).text()
      const parts = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => `${environment.apiUrl}${path}`)
      const answers = await Promise.all(parts.map(async (url) => (await fetch(url)).status))
      assert.deepEqual(answers, [200, 200, 200, 200, 200, 200])
    } finally {
      await environment.stop()
    }
  })
})

describe('Shipped packages', () => {
  const packages = {
    'node_modules/a': { dependencies: { b: '1', c: '1' } },
    'node_modules/b': {},
    'node_modules/c': { dependencies: { b: '2' }, optionalDependencies: { absent: '1' } },
    'node_modules/c/node_modules/b': {},
    'node_modules/tool': { dev: true },
    'node_modules/d': { dependencies: { tool: '1' } },
  }

  it('are the named packages and their dependencies, each in the folder that Node resolves', () => {
    assert.deepEqual(shippedPackages({ packages }, ['a']), [
      'node_modules/a',
      'node_modules/b',
      'node_modules/c',
      'node_modules/c/node_modules/b',
    ])
  })

  it('must be installed and must not be development dependencies', () => {
    assert.throws(() => shippedPackages({ packages }, ['d']), /tool is a development dependency/)
    assert.throws(() => shippedPackages({ packages }, ['e']), /package-lock.json does not contain e/)
  })
})
