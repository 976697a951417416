import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { CONTAINERS } from '../../shared/cosmos/containers.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { projectFiles, projectFolder, readProjectText } from './project-facts.ts'

const GUIDES = ['README.md', 'infra/README.md', 'infra/operations/README.md'] as const
const operations = readProjectText('infra/operations/README.md')

/** The first group of every match, each once, in order. */
const named = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))].sort()

/** What the rows of a table of README's name first, or in their second cell. */
const namedInTable = (heading: string, cell: 1 | 2): string[] => {
  const readme = readProjectText('README.md')
  const section = readme.slice(readme.indexOf(heading)).split('\n#')[0] ?? ''
  const cells = section.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[cell] ?? ''] : []))
  return cells.flatMap((text) => named(text, /`([\w-]+)`/g)).sort()
}

describe('whoever reads how it is built', () => {
  it('finds every function, and no other', () => {
    const triggers = projectFiles('functions/*.ts').map(readProjectText)
    const functions = triggers.flatMap((text) => named(text, /^app\.\w+\(\s*'([\w-]+)'/gm)).sort()
    assert.ok(functions.length > 15, functions.join())
    assert.deepEqual(namedInTable('### Functions and queues', 1), functions)
  })

  it('finds every queue, and no other', () =>
    assert.deepEqual(namedInTable('### Functions and queues', 2), QUEUES.map(({ name }) => name).sort()))

  it('finds every container, and no other', () =>
    assert.deepEqual(namedInTable('### Containers', 1), CONTAINERS.map(({ id }) => id).sort()))
})

describe('whoever operates the service', () => {
  it('reads of every alert what it means and what to do, and of no other', () => {
    const alerts = named(readProjectText('infra/modules/alerts.bicep'), /^ {4}name: '([a-z-]+)'$/gm)
    assert.ok(alerts.length >= 5, alerts.join())
    const table = operations.slice(operations.indexOf('## Alerts'))
    assert.deepEqual(named(table, /^\| `([a-z-]+)` +\| \S.{10,}\| \S.{10,}\|$/gm), alerts)
  })

  it('reads of no queue that there is none of', () => {
    const replayed = named(operations, /--queue ([a-z-]+)/g)
    assert.ok(replayed.length > 0)
    assert.deepEqual(
      replayed.filter((name) => !QUEUES.some((queue) => queue.name === name)),
      [],
    )
  })

  for (const guide of GUIDES) {
    it(`finds every command and every file that is named in ${guide}`, () => {
      const { scripts } = JSON.parse(readProjectText('package.json')) as { scripts: Record<string, string> }
      const commands = named(readProjectText(guide), /\bnpm run ([a-z:-]+)/g)
      assert.deepEqual(
        commands.filter((name) => scripts[name] === undefined),
        [],
      )
      const files = named(readProjectText(guide), /\]\((?!https?:|#)([^)#]+)/g)
      assert.deepEqual(
        files.filter((file) => !existsSync(join(projectFolder, dirname(guide), file))),
        [],
      )
    })
  }

  for (const [topic, words] of [
    ['deploy', /azd up/],
    ['consent, by its address', /\/adminconsent\?client_id=/],
    ['give roles', /## Consent and roles/],
    ['rotate', /## Rotate/],
    ['restore', /az cosmosdb restore/],
    ['upgrade', /## Deploy and upgrade/],
    ['replay what was given up', /npm run dead-letters -- replay/],
  ] as const) {
    it(`is told how to ${topic}`, () => assert.match(operations, words))
  }
})
