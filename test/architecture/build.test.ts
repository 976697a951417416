import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { unzipSync } from 'fflate'
import { packageApp, shippedPackages } from '../../infra/build/package.ts'
import { asApplication, eventually, groupMembers } from '../journeys/demo-clients.ts'
import { newDataFolder, startedEnvironment } from '../journeys/started-environment.ts'
import { APP_SETTINGS } from './app-settings.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** Every function there is, and what sets it off. */
const FUNCTIONS = {
  'api-document': 'httpTrigger',
  'apply-membership-changes': 'serviceBusTrigger',
  collections: 'httpTrigger',
  'collections-criteria': 'httpTrigger',
  'collections-joinable': 'httpTrigger',
  connectors: 'httpTrigger',
  'connectors-reading': 'httpTrigger',
  'core-objects': 'httpTrigger',
  docs: 'httpTrigger',
  'evaluate-collections': 'serviceBusTrigger',
  'group-link': 'httpTrigger',
  health: 'httpTrigger',
  ready: 'httpTrigger',
  'run-sync-job': 'serviceBusTrigger',
  sweep: 'timerTrigger',
  'sweep-of-the-minute': 'timerTrigger',
  'sweep-tenant': 'serviceBusTrigger',
  'zz-unknown-path': 'httpTrigger',
}

type LockedPackages = Record<string, { dev?: boolean }>

describe('the package', () => {
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

  it('registers exactly the functions there are, in a clean folder and a plain process', () => {
    const script = join(import.meta.dirname, 'registered-functions.ts')
    const output = execFileSync(process.execPath, [script, appFolder], { env: APP_SETTINGS, encoding: 'utf8' })
    assert.deepEqual(JSON.parse(output), FUNCTIONS)
  })

  it('does not start with a faulty setting, and names it', () => {
    const script = join(import.meta.dirname, 'registered-functions.ts')
    const env = { ...APP_SETTINGS, COSMOS_ENDPOINT: 'nowhere' }
    assert.throws(
      () => execFileSync(process.execPath, [script, appFolder], { env, encoding: 'utf8', stdio: 'pipe' }),
      /COSMOS_ENDPOINT has to be a URL/,
    )
  })

  it('holds the bundle, the host’s settings, a manifest without scripts and no more than a few packages', () => {
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

  it('holds no package that is for development only', () => {
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

  it('has a map for every file of the bundle, back to the sources', () => {
    const scripts = Object.keys(files).filter((path) => /^dist\/.*\.js$/.test(path))
    const sources = new Set<string>()
    for (const path of scripts) {
      const map = JSON.parse(Buffer.from(files[`${path}.map`] ?? []).toString())
      assert.match(Buffer.from(files[path] ?? []).toString(), /\n\/\/# sourceMappingURL=\S+\.js\.map\n?$/)
      for (const source of map.sources) sources.add(join(dirname(path), source))
    }
    for (const trigger of globSync('functions/*.ts', { cwd: PROJECT_FOLDER })) assert.ok(sources.has(trigger), trigger)
  })

  it('starts with the triggers and the settings alone: no library but that of Functions', () => {
    const bundled = (path: string): string[] => {
      const text = Buffer.from(files[path] ?? []).toString()
      const statically = [...text.matchAll(/^(?:import|\} from) "(\.[^"]+)";$/gm)].map(([, to = '']) =>
        join(dirname(path), to),
      )
      return [path, ...statically.flatMap(bundled)]
    }
    const loaded = [...new Set(bundled('dist/functions/all-triggers.js'))]
    const sources = loaded.flatMap((path) => JSON.parse(Buffer.from(files[`${path}.map`] ?? []).toString()).sources)
    assert.ok(sources.some((source: string) => source.endsWith('shared/settings/settings.ts')))
    assert.deepEqual(
      sources.filter((source: string) => source.includes('node_modules')),
      [],
    )
  })

  it('is the same, byte for byte, when nothing has changed', async () => {
    const again = join(folder, 'again.zip')
    await packageApp(PROJECT_FOLDER, again)
    assert.ok(readFileSync(again).equals(readFileSync(zipFile)))
  })

  it('does the main job: every client of the cloud is in it', async () => {
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
      assert.deepEqual(answers, [200, 200, 200, 200, 200])
    } finally {
      await environment.stop()
    }
  })
})

describe('the packages that are shipped', () => {
  const packages = {
    'node_modules/a': { dependencies: { b: '1', c: '1' } },
    'node_modules/b': {},
    'node_modules/c': { dependencies: { b: '2' }, optionalDependencies: { absent: '1' } },
    'node_modules/c/node_modules/b': {},
    'node_modules/tool': { dev: true },
    'node_modules/d': { dependencies: { tool: '1' } },
  }

  it('are those named and what they depend on, each as Node would find it', () => {
    assert.deepEqual(shippedPackages({ packages }, ['a']), [
      'node_modules/a',
      'node_modules/b',
      'node_modules/c',
      'node_modules/c/node_modules/b',
    ])
  })

  it('are none for development, and none that is missing', () => {
    assert.throws(() => shippedPackages({ packages }, ['d']), /tool is a development dependency/)
    assert.throws(() => shippedPackages({ packages }, ['e']), /package-lock.json does not contain e/)
  })
})
