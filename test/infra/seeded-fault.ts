import assert from 'node:assert/strict'
import type { TemplateTexts } from './bicep/read-project.ts'

/** One mistake put into the templates: where it goes, and what the checker has to say of it. */
export type SeededFault = {
  readonly name: string
  readonly seed: (texts: TemplateTexts) => TemplateTexts
  readonly expected: RegExp
}

type Seed = SeededFault['seed']

export const seededFault = (name: string, seed: Seed, expected: RegExp): SeededFault => ({ name, seed, expected })

/** Where an edit may go: the text between two offsets of a file. */
type Stretch = { readonly file: string; readonly start: number; readonly end: number }

/** Replaces what a pattern finds anywhere in the templates. It has to be there exactly once. */
export const anywhere = (find: RegExp, replacement: string): Seed =>
  edit((texts) => [...texts].map(([file, text]) => ({ file, start: 0, end: text.length })), find, replacement)

/** Replaces what a pattern finds within the resources of a type. */
export const inResource = (type: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^resource \\w+ '${type}@`, 'gm')), find, replacement)

/** Replaces what a pattern finds within a module's declaration. */
export const inModule = (name: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^module ${name} '`, 'gm')), find, replacement)

/** Replaces what a pattern finds within the declaration of a variable. */
export const inVariable = (name: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^var ${name} =`, 'gm')), find, replacement)

/** Adds a line to the end of the only file whose text fits. */
export const append = (find: RegExp, line: string): Seed => {
  return (texts) => {
    const files = [...texts].filter(([, text]) => find.test(text))
    assert.equal(files.length, 1, `${find} is in ${files.length} files`)
    return new Map([...texts, ...files.map(([file, text]) => [file, `${text}\n${line}\n`] as const)])
  }
}

/** A declaration goes on until a bracket at the beginning of a line closes it. */
const blocksStarting =
  (start: RegExp) =>
  (texts: TemplateTexts): Stretch[] =>
    [...texts].flatMap(([file, text]) =>
      [...text.matchAll(start)].map(({ index }) => {
        const end = /^[}\]].*$/m.exec(text.slice(index))
        return { file, start: index, end: end === null ? text.length : index + end.index + end[0].length }
      }),
    )

function edit(stretchesOf: (texts: TemplateTexts) => Stretch[], find: RegExp, replacement: string): Seed {
  return (texts) => {
    const found = stretchesOf(texts).flatMap(({ file, start, end }) => {
      const part = texts.get(file)?.slice(start, end) ?? ''
      return [...part.matchAll(new RegExp(find, `${find.flags}g`))].map((match) => ({ file, start, end, part, match }))
    })
    const [only] = found
    assert.ok(only && found.length === 1, `${find} is found ${found.length} times`)
    const edited = only.part.slice(0, only.match.index) + only.match[0].replace(find, replacement)
    const rest = only.part.slice(only.match.index + only.match[0].length)
    const text = texts.get(only.file) ?? ''
    return new Map([...texts, [only.file, text.slice(0, only.start) + edited + rest + text.slice(only.end)]])
  }
}
