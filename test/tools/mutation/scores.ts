import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DECISION_MODULES } from './decision-modules.ts'

/** What the last run for a module has found. */
type Score = {
  readonly noticedCount: number
  readonly mutantCount: number
  /** Hash of the source files of that run, without lines of comments, in which nothing is changed. */
  readonly digest: string
  /** Mutants that no test notices. */
  readonly survivors: readonly string[]
}
type Scores = Readonly<Record<string, Score>>

/** A line of a comment, not the head of a generator. */
const COMMENT_LINE = /^\s*(\/\/|\/\*\*|\*(\s|\/|$))/

const SCORES_FILE = new URL('scores.json', import.meta.url)

const readScores = (): Scores => JSON.parse(readFileSync(SCORES_FILE, 'utf8')) as Scores

/** Records the score of a module. @param folder The project with the files that were changed. */
export function saveScore(module: string, score: Omit<Score, 'digest'>, folder: string): void {
  const scores = { ...readScores(), [module]: { ...score, digest: digestOf(module, folder) } }
  const inOrder = Object.keys(DECISION_MODULES).flatMap((name) => (scores[name] ? [[name, scores[name]]] : []))
  writeFileSync(SCORES_FILE, `${JSON.stringify(Object.fromEntries(inOrder), undefined, 2)}\n`)
}

function digestOf(module: string, folder: string): string {
  const hash = createHash('sha256')
  for (const file of DECISION_MODULES[module] ?? []) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    hash.update(lines.filter((line) => !COMMENT_LINE.test(line)).join('\n'))
  }
  return hash.digest('hex').slice(0, 16)
}

/** `noticed of count`, in percent, rounded down. */
export function shareOf({ noticedCount, mutantCount }: Pick<Score, 'noticedCount' | 'mutantCount'>): string {
  const percent = mutantCount === 0 ? 100 : Math.floor((1000 * noticedCount) / mutantCount) / 10
  return `${noticedCount} of ${mutantCount} mutants noticed, ${percent} %`
}

export type ScoreReport = {
  /** One for each module, and the sum. */
  readonly lines: readonly string[]
  readonly percent: number
  /** Modules without a score. */
  readonly missing: readonly string[]
}

/** The recorded scores, and which of them are of another version of the code. */
export function scoreReport(): ScoreReport {
  const scores = readScores()
  const names = Object.keys(DECISION_MODULES)
  const lines = names.flatMap((name) => {
    const score = scores[name]
    if (score === undefined) return []
    return [
      `${name}: ${shareOf(score)}${score.digest === digestOf(name, '.') ? '' : ' (before the last change of the module)'}`,
    ]
  })
  const known = names.flatMap((name) => scores[name] ?? [])
  const sum = {
    noticedCount: known.reduce((count, each) => count + each.noticedCount, 0),
    mutantCount: known.reduce((count, each) => count + each.mutantCount, 0),
  }
  return {
    lines: [...lines, `all: ${shareOf(sum)}`],
    percent: (100 * sum.noticedCount) / sum.mutantCount,
    missing: names.filter((name) => scores[name] === undefined),
  }
}
