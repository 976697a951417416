import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PROJECT_FOLDER = join(import.meta.dirname, '../../..')

/** A line of text, with the place of it. */
export type Sentence = { readonly at: string; readonly text: string }

/** The lines of a file of the project, relative to the project folder. */
export function linesOf(path: string): Sentence[] {
  return readFileSync(join(PROJECT_FOLDER, path), 'utf8')
    .split('\n')
    .map((text, index) => ({ at: `${path}:${index + 1}`, text }))
}

/** The lines of a file that are comments, and comments at the end of a line. */
export function commentsOf(path: string): Sentence[] {
  return linesOf(path).flatMap(({ at, text }) => {
    const comment = /^\s*(?:\/\*\*?|\*|\/\/|#)(.*)$|\s\/\/ (.*)$/.exec(text)
    return comment === null ? [] : [{ at, text: comment[1] ?? comment[2] ?? '' }]
  })
}
