import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { METRICS } from '../../shared/kernel/metrics.ts'
import { REFUSALS } from '../../shared/kernel/refusal-register.ts'
import { SETTINGS } from '../../shared/settings/settings.ts'
import { commentsOf, linesOf, type Sentence } from '../support/architecture/comments.ts'

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

/** Private terms, and words that plain technical English does not need. Each has a standard replacement. */
const AVOIDED_WORDS = [
  /\bdoorbells?\b/i, // message, notification
  /\b(rings?|ringing|rung|bells?)\b/i, // enqueue, notify
  /\bsights?\b/i, // object access
  /\b(whoever|whomever|whatever|nobody|somebody)\b/i, // name the actor
  /\b(of which|of whom|of whose|by which it)\b/i, // split the sentence
  /\b(take up|takes up|taken up|put down|puts down)\b/i, // claim, yield, release
  /\b(left alone|leave alone|heard of|unheard)\b/i,
  /\b(astray|baseless|overtaken|doorstep|lest)\b/i, // misplaced, orphaned, conflict
  /\bcannot be had\b/i, // is unavailable
  /\bnone of (its|their|our) business\b|\bbusiness but\b/i,
  /\bhas to be\b|\bhave to be\b/i, // must be
  /\b(mends?|mended|mending)\b/i, // repair
  /\bcomes? to grief\b/i, // fail
  /\bso many\b|\bas it were\b/i,
  /\btells? apart\b|\btold apart\b/i, // distinguish
  /\blets? go of?\b/i, // release
] as const

/** The beginning of a comment that says nothing without the one before. */
const NEEDS_NEIGHBOUR = /^\s*The same(?: (?:as|for|in|of|through|when|with|without)\b|[.,])/

/** Terms that the code itself must not use anywhere. `Application Insights` contains none of them as a word. */
const RETIRED_TERMS = /doorbell|\bring(s|ing)?\b|\brung\b|\bbells?\b|\bsights?\b/i

function avoided(sentences: readonly Sentence[]): string[] {
  return sentences.flatMap(({ at, text }) =>
    AVOIDED_WORDS.flatMap((word) => {
      const match = word.exec(text)
      return match === null ? [] : [`${at}: "${match[0]}" in "${text.trim().slice(0, 120)}"`]
    }),
  )
}

/** Summaries and descriptions of the API description, with the path of properties that leads to them. */
function descriptions(value: unknown, at: string): Sentence[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    typeof member === 'string'
      ? ['summary', 'description', 'title'].includes(key)
        ? [{ at: `${at}/${key}`, text: member }]
        : []
      : descriptions(member, `${at}/${key}`),
  )
}

describe('prose that users and operators read', () => {
  it('is plain technical English in the guides', () => {
    const guides = globSync(['*.md', '.github/*.md', 'infra/**/*.md'], { cwd: PROJECT_FOLDER })
    assert.ok(guides.length >= 3, guides.join())
    assert.deepEqual(avoided(guides.flatMap(linesOf)), [])
  })

  it('is plain technical English in the API description', () => {
    const found = descriptions(JSON.parse(JSON.stringify(serviceDocument())), '')
    assert.ok(found.length > 200, String(found.length))
    assert.deepEqual(avoided(found), [])
  })

  it('is plain technical English in refusals, settings and metrics', () => {
    const sentences = [
      ...Object.entries(REFUSALS).map(([at, { message }]) => ({ at, text: message })),
      ...Object.values(SETTINGS).map(({ name, meaning }) => ({ at: name, text: meaning })),
      ...Object.entries(METRICS).map(([at, { meaning }]) => ({ at, text: meaning })),
    ]
    assert.ok(sentences.length > 100, String(sentences.length))
    assert.deepEqual(avoided(sentences), [])
  })

  it('is plain technical English in comments', () => {
    const files = globSync(['{functions,infra,shared,test}/**/*.{ts,tsx,bicep}'], { cwd: PROJECT_FOLDER })
    const comments = files.flatMap(commentsOf)
    assert.ok(comments.length > 1000, String(comments.length))
    assert.deepEqual(avoided(comments), [])
    assert.deepEqual(
      comments.filter(({ text }) => NEEDS_NEIGHBOUR.test(text)),
      [],
    )
  })

  it('uses no retired term anywhere in the code', () => {
    const files = globSync(['functions/**/*.ts', 'shared/**/*.ts', 'infra/**/*.{ts,bicep,md}', 'README.md'], {
      cwd: PROJECT_FOLDER,
    })
    assert.ok(files.length > 200, String(files.length))
    const found = files.flatMap(linesOf).filter(({ text }) => RETIRED_TERMS.test(text))
    assert.deepEqual(
      found.map(({ at, text }) => `${at}: ${text.trim()}`),
      [],
    )
  })

  it('introduces the service in at most 150 lines and names the two commands of a newcomer', () => {
    const lines = linesOf('README.md')
    assert.ok(lines.length <= 151, String(lines.length))
    const text = lines.map((line) => line.text).join('\n')
    for (const command of ['npm ci && npm start', 'npm ci && npm test']) assert.ok(text.includes(command), command)
  })
})
