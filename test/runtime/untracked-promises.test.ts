import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const UNTRACKED_PROMISES = new URL('../tools/untracked-promises.ts', import.meta.url).href

const { NODE_TEST_CONTEXT: _, ...env } = process.env
const run = (file: string) => spawnSync(process.execPath, ['--import', UNTRACKED_PROMISES, file], { env })

describe('A test file whose promises are not followed', () => {
  it('has its suites: hooks of a suite run for its own tests', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'untracked-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'suite.mjs')
    writeFileSync(
      file,
      `import { afterEach, before, describe, it } from 'node:test'
      const events = []
      describe('a suite', () => {
        before(async () => { await null; events.push('before') })
        afterEach(() => events.push('after each'))
        it('has a test', async () => { await null; events.push('test') })
      })
      it('is not in the suite', () => events.push('other test'))
      process.on('exit', () => console.log(events.join()))`,
    )
    const { status, stdout } = run(file)
    assert.equal(status, 0)
    assert.match(String(stdout), /before,test,after each,other test/)
  })

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
      const { status, stdout } = run(file)
      assert.equal(status, 1, name)
      assert.match(String(stdout), /lost/, name)
    }
  })
})
