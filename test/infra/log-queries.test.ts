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

describe('The log alerts', () => {
  const blocks = textOf('infra/modules/alerts.bicep').split(/^ {4}name: /m)
  const all = blocks.flatMap((block) => {
    const [name = '', frequency, window, query = ''] = [
      /^'([\w-]+)'/,
      /evaluationFrequency: 'PT(\w+)'/,
      /windowSize: 'PT(\w+)'/,
      /query: '''(.*?)'''/s,
    ].map((pattern) => pattern.exec(block)?.[1])
    if (frequency === undefined || window === undefined) return []
    return [{ name, frequency: frequency.toLowerCase(), window: window.toLowerCase(), query }]
  })

  it('count each record once, also one that arrives some minutes late', () => {
    // The state of a tenant that is too large, and a reached cap, last: these alerts tell of what lasts.
    const counting = all.filter(
      ({ name, window, frequency }) => window !== frequency && !['tenant-too-large', 'logs-capped'].includes(name),
    )
    assert.ok(counting.length >= 7, 'too few alerts to be all of them')
    for (const { name, frequency, query } of counting) {
      assert.deepEqual([...named(query, /ingestion_time\(\) > ago\((\w+)\)/g)], [frequency], name)
    }
  })

  it('look at the age of sweeps for longer than from one evaluation to the next', () => {
    const { frequency, query } = all.find(({ name }) => name === 'sweep-overdue') ?? assert.fail()
    assert.deepEqual([frequency, ...named(query, /maxif\(Max, TimeGenerated > ago\((\w+)\)\)/g)], ['15m', '30m'])
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
