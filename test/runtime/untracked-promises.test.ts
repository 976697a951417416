import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const UNTRACKED_PROMISES = new URL('../untracked-promises.ts', import.meta.url).href

describe('A test file whose promises are not followed', () => {
  it('fails with an error that no test catches: one thrown, one rejected, one after the end of its test', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'untracked-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const uncaught = {
      thrown: `setTimeout(() => { throw new Error('lost') }); await new Promise((end) => setTimeout(end, 50))`,
      rejected: `void Promise.reject(new Error('lost')); await new Promise((end) => setTimeout(end, 50))`,
      late: `setTimeout(() => { throw new Error('lost') }, 20)`,
    }
    for (const [name, body] of Object.entries(uncaught)) {
      const file = join(folder, `${name}.mjs`)
      writeFileSync(file, `import { it } from 'node:test'\nit('ends', async () => { ${body} })\n`)
      const { NODE_TEST_CONTEXT: _, ...env } = process.env
      const { status, stdout } = spawnSync(process.execPath, ['--import', UNTRACKED_PROMISES, file], { env })
      assert.equal(status, 1, name)
      assert.match(String(stdout), /lost/, name)
    }
  })
})
