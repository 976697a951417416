import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** An exported declaration at the start of a line. A schema and its type share a name in one file. */
const DECLARATION = /^export (?:async |abstract )*(?:const|let|function\*?|class|type|interface) (\w+)/gm

describe('An exported name', () => {
  const declaredIn = new Map<string, Set<string>>()
  for (const file of globSync('{functions,shared}/**/*.ts', { cwd: PROJECT_FOLDER })) {
    for (const [, name = ''] of readFileSync(join(PROJECT_FOLDER, file), 'utf8').matchAll(DECLARATION)) {
      declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(file))
    }
  }

  it('is declared in one file only', () => {
    const ambiguous = [...declaredIn].filter(([, files]) => files.size > 1).map(([name, files]) => [name, ...files])
    assert.deepEqual(ambiguous, [])
  })

  it('is found by this test', () => {
    assert.ok(declaredIn.size > 400, `only ${declaredIn.size} names were found`)
    for (const name of ['buildService', 'Settings', 'METRICS', 'Refusal']) assert.ok(declaredIn.has(name), name)
  })
})
