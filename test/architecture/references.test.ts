import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { commentsOf, linesOf } from '../support/architecture/comments.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

const GUIDES = globSync(['*.md', '.github/*.md', '{infra,test}/**/*.md'], { cwd: PROJECT_FOLDER })

const SOURCES = globSync(['{functions,infra,test}/**/*.{ts,tsx,cjs,bicep,sh}', 'shared/**/*.ts', '.github/**/*.yml'], {
  cwd: PROJECT_FOLDER,
})

const textOf = (file: string): string => readFileSync(join(PROJECT_FOLDER, file), 'utf8')

/** The fragment of a heading, as GitHub and editors derive it. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

const fragmentsIn = (file: string): string[] =>
  [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => fragmentOf(heading))

/** Whether a link of a guide leads to a file, and to a heading of it. */
function resolves(guide: string, link: string): boolean {
  const [path = '', fragment] = link.split('#')
  const file = path === '' ? guide : join(dirname(guide), path)
  if (!existsSync(join(PROJECT_FOLDER, file))) return false
  return fragment === undefined || fragmentsIn(file).includes(fragment)
}

/** Paths of files below the folders of the code, without patterns. */
const PATH = /(?<![\w./<-])(?:functions|shared|infra|test)\/[\w./-]+\.(?:tsx?|md|bicep|json|sh|ps1|gz)\b/g

describe('A reference to a document', () => {
  it('leads to a file and a heading in every guide', () => {
    const links = GUIDES.flatMap((guide) =>
      [...textOf(guide).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => ({ guide, link })),
    )
    assert.ok(links.length > 20, String(links.length))
    assert.deepEqual(
      links.filter(({ guide, link }) => !resolves(guide, link)),
      [],
    )
  })

  it('names an existing file in every guide and comment', () => {
    const isGenerated = (path: string) => path === 'infra/openapi.json'
    const sentences = [...GUIDES.flatMap(linesOf), ...SOURCES.flatMap(commentsOf)]
    const missing = sentences.flatMap(({ at, text }) =>
      (text.match(PATH) ?? []).flatMap((path) =>
        isGenerated(path) || existsSync(join(PROJECT_FOLDER, path)) ? [] : [`${at}: ${path}`],
      ),
    )
    assert.deepEqual(missing, [])
  })

  it('does not name a section of a document outside the repository', () => {
    const comments = SOURCES.flatMap(commentsOf)
    assert.ok(comments.length > 1000, String(comments.length))
    const found = comments.filter(({ text }) =>
      /\b(?:decisions|statement|architecture), (?:sections? \d|")/i.test(text),
    )
    assert.deepEqual(found, [])
  })
})
