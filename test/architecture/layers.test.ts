import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

/** Names for the shape of a file's contents instead of their subject. */
const SHAPE_NAMES = /^(utils?|helpers?|commons?|types?|constants?|misc|lib)(\.|$)/

describe('The folders', () => {
  it('import each other in the allowed directions only, and the check reads all of them', () => {
    const depcruise = join(PROJECT_FOLDER, 'node_modules/.bin/depcruise')
    const options = ['--config', 'test/support/architecture/layers.cjs', '--output-type', 'json']
    const output = execFileSync(process.execPath, [depcruise, ...options, 'functions', 'shared', 'infra', 'test'], {
      cwd: PROJECT_FOLDER,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    })
    const { summary } = JSON.parse(output) as { summary: { totalCruised: number; violations: unknown[] } }
    assert.deepEqual(summary.violations, [])
    assert.ok(summary.totalCruised > 350, `only ${summary.totalCruised} modules were looked at`)
  })

  it('contain no file or folder that is named after its shape', () => {
    const named = ['functions', 'shared', 'infra', 'test'].flatMap((folder) =>
      readdirSync(join(PROJECT_FOLDER, folder), { recursive: true, encoding: 'utf8' }),
    )
    assert.deepEqual(
      named.filter((path) => path.split('/').some((part) => SHAPE_NAMES.test(part))),
      [],
    )
  })
})
