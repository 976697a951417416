import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))
const LIST = 'shared/domain/current-reads.md'
/** The helpers of the adapters that the current reads consist of. */
const HELPERS = new Set(['documents', 'batched-reads', 'kept-lists'].map((name) => `shared/cosmos/${name}.ts`))

const textOf = (path: string): string => readFileSync(join(PROJECT_FOLDER, path), 'utf8')

/** Calls of ports, and of the helpers where an adapter uses them for a read of its own. */
const CALLS = [
  /\b(?!this\.)(\w+\.(?:catchUp|findCurrent|head)|snapshots\.current)\(/g,
  /await (currentOrgChart|catchUp)\(/g,
  /(readCurrentDocuments|readCurrentFew|keptLists)(?:<.*>)?\(/g,
]

function callsInCode(): Set<string> {
  const paths = globSync(['shared/**/*.ts', 'functions/**/*.ts'], { cwd: PROJECT_FOLDER })
  return new Set(
    paths
      .filter((path) => !HELPERS.has(path))
      .flatMap((path) => {
        const text = textOf(path)
        return CALLS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, call]) => `${path} ${call}`))
      }),
  )
}

function callsInList(): string[] {
  return [...textOf(LIST).matchAll(/^\| ((?:shared|functions)\/\S+) +\| (\S+) +\|/gm)].map(
    ([, path, call]) => `${path} ${call}`,
  )
}

describe('The list of current reads', () => {
  it('names every current read of the code, and no other', () => {
    const listed = callsInList()
    assert.equal(new Set(listed).size, listed.length, 'a row stands twice')
    assert.deepEqual(listed.toSorted(), [...callsInCode()].toSorted())
  })
})
