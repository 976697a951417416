import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadApp } from '../../infra/local/host/loader.ts'
import { APP_SETTINGS } from './app-settings.ts'

type ReferencePage = typeof import('../../shared/http/reference-page.ts')

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

describe('the built app', () => {
  it('registers a function for every entry file, as the host loads it', async () => {
    const tsc = join(PROJECT_FOLDER, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [tsc, '-p', 'infra/build/tsconfig.json'], { cwd: PROJECT_FOLDER, stdio: 'inherit' })
    Object.assign(process.env, APP_SETTINGS)
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

  it('finds the files of its reference page', async () => {
    const { referencePage } = (await import(`${PROJECT_FOLDER}/dist/shared/http/reference-page.js`)) as ReferencePage
    const sizes = [...referencePage('Title', '/openapi.json').values()].map(({ read }) => read().byteLength)
    assert.ok(sizes.length === 5 && sizes.every((sizeBytes) => sizeBytes > 100), sizes.join())
  })
})
