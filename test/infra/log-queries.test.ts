import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const PROJECT = join(import.meta.dirname, '../..')

const textOf = (pattern: string): string =>
  globSync(pattern, { cwd: PROJECT })
    .map((file) => readFileSync(join(PROJECT, file), 'utf8'))
    .join('\n')

/** The first group of every match. */
const named = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))

const missingFrom = (there: ReadonlySet<string>, wanted: ReadonlySet<string>): string[] =>
  [...wanted].filter((name) => !there.has(name))

describe('the queries of workbook and alerts', () => {
  const queries = textOf('infra/workbook.json') + textOf('infra/modules/alerts.bicep')
  const sources = textOf('{functions,shared}/**/*.ts')

  it('use events that the code logs', () => {
    const queried = named(queries, /line\.event == '([^']+)'/g)
    assert.ok(queried.size >= 4, 'too few events to be all of them')
    assert.deepEqual(missingFrom(named(sources, /\blog\.(?:info|warn|error)\(\s*'([^']+)'/g), queried), [])
  })

  it('search for the events that they select', () => {
    const lookedFor = named(queries, /Message has '([\w.-]+)'/g)
    assert.deepEqual(lookedFor, named(queries, /line\.event == '([^']+)'/g))
  })

  it('use metrics that the code records', () => {
    const conditions = named(queries, /AppMetrics\s*(?:\\n)?\|\s*where (Name[^|\\]+)/g)
    const queried = new Set([...conditions].flatMap((condition) => [...named(condition, /'([a-z]+\.[a-z.]+)'/g)]))
    assert.ok(queried.size >= 6, 'too few metrics to be all of them')
    assert.deepEqual(missingFrom(named(sources, /\.record\(\s*'([^']+)'/g), queried), [])
  })
})

describe('the workbook', () => {
  const { items } = JSON.parse(textOf('infra/workbook.json')) as { items: { name: string; content: object }[] }

  it('has unique names of its parts', () => {
    assert.equal(new Set(items.map(({ name }) => name)).size, items.length)
  })

  it('uses only resource ids from the template', () => {
    const filled = named(textOf('infra/modules/workbook.bicep'), /'(\{\{\w+\}\})'/g)
    assert.deepEqual(named(JSON.stringify(items), /(\{\{\w+\}\})/g), filled)
    assert.doesNotMatch(JSON.stringify(items), /\/subscriptions\//)
  })
})
