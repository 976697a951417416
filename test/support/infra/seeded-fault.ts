import assert from 'node:assert/strict'
import type { TemplateTexts } from './bicep/template.ts'

type Seed = (texts: TemplateTexts) => TemplateTexts

/** A mistake in the templates: its name, where it is inserted, and the expected error. */
export type SeededFault = readonly [name: string, seed: Seed, expected: RegExp]

/** A range of a file for an edit. */
type Stretch = { readonly file: string; readonly start: number; readonly end: number }

/** Replaces the only match of a pattern in the templates. */
export const anywhere = (find: RegExp, replacement: string): Seed =>
  edit((texts) => [...texts].map(([file, text]) => ({ file, start: 0, end: text.length })), find, replacement)

/** Replaces the only match of a pattern in the resources of a type. */
export const inResource = (type: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^resource \\w+ '${type}@`, 'gm')), find, replacement)

/** Replaces the only match of a pattern in the declaration of a module. */
export const inModule = (name: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^module ${name} '`, 'gm')), find, replacement)

/** Replaces the only match of a pattern in the declaration of a variable. */
export const inVariable = (name: string, find: RegExp, replacement: string): Seed =>
  edit(blocksStarting(new RegExp(`^var ${name} =`, 'gm')), find, replacement)

/** Appends a line to the only file that matches. */
export const append = (find: RegExp, line: string): Seed => {
  return (texts) => {
    const files = [...texts].filter(([, text]) => find.test(text))
    assert.equal(files.length, 1, `${find} is in ${files.length} files`)
    return new Map([...texts, ...files.map(([file, text]) => [file, `${text}\n${line}\n`] as const)])
  }
}

/** A declaration ends with a bracket at the start of a line. */
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
