/** One record of a CSV text, with the line on which it begins, from 1. */
export type CsvRecord = { readonly line: number; readonly fields: readonly string[] }

/** A text that is no CSV. */
export class CsvError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** A quoted field, or one without quotes, and what ends it: RFC 4180, section 2. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y

/**
 * The records of a text in the form of RFC 4180; a byte order mark and empty lines are passed over.
 * @throws CsvError at a quote where none may be, or that is never closed.
 */
export function* readCsv(text: string): Generator<CsvRecord> {
  let [position, line] = [text.startsWith('\uFEFF') ? 1 : 0, 1]
  while (position < text.length) {
    const startLine = line
    const fields: string[] = []
    let end = ','
    while (end === ',') {
      FIELD.lastIndex = position
      const match = FIELD.exec(text)
      if (match === null) throw new CsvError(line, misplacedQuote(text, position))
      const [all, quoted, plain = '', ending = ''] = match
      fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
      line += lineBreaksIn(all)
      position += all.length
      end = ending
    }
    if (fields.length > 1 || fields[0] !== '') yield { line: startLine, fields }
  }
}

const lineBreaksIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0

const misplacedQuote = (text: string, position: number): string =>
  text[position] === '"' ? 'a quoted field is not closed, or goes on after its quote' : 'a quote within a plain field'
