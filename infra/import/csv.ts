import { CsvError, type Parser, parse } from 'csv-parse'
import { parse as parseText } from 'csv-parse/sync'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { attributeDefinition } from '../../shared/domain/core/core-object.ts'
import { type CustomTypes, customTypeOf, isCustomAttribute } from '../../shared/domain/core/custom-types.ts'
import { LINE_BREAK } from './file-text.ts'

/** One record of a CSV text, with the line on which it begins, counted from 1. */
export type CsvRecord = { readonly line: number; readonly fields: readonly string[] }

/** The quoting error that ended the parsing, with the first line of the record that contains it. */
export type CsvFault = { readonly line: number; readonly reason: string }

const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field continues after its closing quote',
  INVALID_OPENING_QUOTE: 'an unquoted field contains a quote',
}

const DELIMITERS = [',', ';', '\t'] as const
export type CsvDelimiter = (typeof DELIMITERS)[number]

/** RFC 4180 with any line breaks. */
const FORMAT = { relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'] }

/**
 * The delimiter that separates a required column from others in the header line; for several the one with the most
 * columns. A comma if the header has one column.
 * @param text begins with the header, or with empty lines before it
 */
export function recognisedDelimiter(text: string, requiredColumns: readonly string[]): CsvDelimiter {
  const candidates = DELIMITERS.map((delimiter) => {
    const columns = headerOf(text, delimiter).map((name) => name.trim())
    return { delimiter, hasRequired: requiredColumns.some((name) => columns.includes(name)), count: columns.length }
  })
  const [best] = candidates.toSorted(
    (first, second) => Number(second.hasRequired) - Number(first.hasRequired) || second.count - first.count,
  )
  return best?.delimiter ?? ','
}

/** The fields of the first record. Empty if it cannot be parsed with this delimiter. */
function headerOf(text: string, delimiter: CsvDelimiter): string[] {
  try {
    const [header = []] = parseText(text, { ...FORMAT, delimiter, skip_empty_lines: true, to: 1 }) as string[][]
    return header
  } catch (error) {
    if (error instanceof CsvError) return []
    throw error
  }
}

/**
 * Parses the texts of a file, as a stream. Ignores empty lines. Ends after the records before the first quoting error,
 * with this error.
 */
export async function* readCsv(
  texts: AsyncIterable<string> | Iterable<string>,
  delimiter: CsvDelimiter,
): AsyncGenerator<CsvRecord | CsvFault> {
  let line = 1
  const records: CsvRecord[] = []
  const onRecord = (fields: string[]): null => {
    if (fields.length > 1 || fields[0] !== '') records.push({ line, fields })
    // csv-parse 7.0 counts a CRLF within quotes as two lines in its own `info.lines`.
    line += 1 + fields.reduce((count, field) => count + (field.match(LINE_BREAK)?.length ?? 0), 0)
    return null
  }
  const parser = parse({ ...FORMAT, delimiter, on_record: onRecord })
  for await (const text of texts) {
    const error = await outcomeOf(parser, (done) => parser.write(text, done))
    yield* records.splice(0)
    if (error !== undefined) return yield faultOf(error, line)
  }
  const error = await outcomeOf(parser, (done) => parser.end(done))
  yield* records.splice(0)
  if (error !== undefined) yield faultOf(error, line)
}

/** The error of one call. The parser emits it as an event too, which without a listener ends the process. */
function outcomeOf(parser: Parser, call: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
  return new Promise((resolve) => {
    parser.once('error', resolve)
    call((error) => {
      if (error) return resolve(error)
      parser.off('error', resolve)
      resolve(undefined)
    })
  })
}

function faultOf(error: Error, line: number): CsvFault {
  if (!(error instanceof CsvError)) throw error
  return { line, reason: FAULTS[error.code] ?? error.message }
}

const LIST_SEPARATOR = '|'

/**
 * Converts the cells of a CSV row to the data of a connector object. A reference is an external ID, lists are separated
 * by `|`, also those of a custom attribute of type `StringList`, empty cells are omitted. Invalid values are sent unchanged: the API reports them with a precise message.
 */
export function dataOfCells(
  objectType: ObjectType,
  cells: ReadonlyMap<string, string>,
  types: CustomTypes,
): Record<string, unknown> {
  return Object.fromEntries(
    [...cells].flatMap(([name, cell]) => (cell === '' ? [] : [[name, valueOfCell(objectType, name, cell, types)]])),
  )
}

function valueOfCell(objectType: ObjectType, name: string, cell: string, types: CustomTypes): unknown {
  if (isCustomAttribute(name)) return customTypeOf(types, objectType, name) === 'StringList' ? listed(cell) : cell
  switch (attributeDefinition(objectType, name)?.kind) {
    case 'boolean':
      return asBoolean(cell)
    case 'reference':
      return { externalId: cell }
    case 'references':
      return listed(cell).map((externalId) => ({ externalId }))
    case 'guids':
      return listed(cell)
    default:
      return cell
  }
}

const listed = (cell: string): string[] =>
  cell
    .split(LIST_SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

function asBoolean(cell: string): unknown {
  const word = cell.trim().toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : cell
}
