import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadApp } from '../../infra/local/host/loader.ts'

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

/** Enough for the app to load: nothing connects before it is used. */
const SETTINGS = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_CLIENT_SECRET: 'not-used',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  COSMOS_KEY: Buffer.alloc(64).toString('base64'),
  ServiceBus: 'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true',
  CURSOR_KEYS: Buffer.alloc(32).toString('base64'),
}

describe('the built app', () => {
  it('registers a function for every entry file, as the host loads it', async () => {
    const tsc = join(PROJECT_FOLDER, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [tsc, '-p', 'infra/build/tsconfig.json'], { cwd: PROJECT_FOLDER, stdio: 'inherit' })
    Object.assign(process.env, SETTINGS)
    const { functions } = await loadApp(PROJECT_FOLDER, undefined)
    const names = functions.map(({ metadata }) => metadata.name).sort()
    const entries = globSync('functions/*.ts', { cwd: PROJECT_FOLDER }).map((file) => basename(file, '.ts'))
    for (const entry of entries) {
      assert.ok(
        names.some((name) => name.includes(entry)),
        `${entry} is not among ${names.join(', ')}`,
      )
    }
    assert.equal(names.at(-1), 'zz-unknown-path')
  })
})
