import { CsvError, parse } from 'csv-parse/sync'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { attributeDefinition } from '../../shared/domain/core/core-object.ts'

/** One record of a CSV text, with the line on which it begins, counted from 1. */
export type CsvRecord = { readonly line: number; readonly fields: readonly string[] }

export type CsvContent = {
  readonly records: readonly CsvRecord[]
  /** The quoting error that ended the parsing, with the first line of the record that contains it. */
  readonly fault?: { readonly line: number; readonly reason: string }
}

const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quoted field continues after its closing quote',
  INVALID_OPENING_QUOTE: 'an unquoted field contains a quote',
}

/**
 * Parses a text in the form of RFC 4180 with any line breaks. Ignores a byte order mark and empty lines. Returns the
 * records before the first quoting error.
 */
export function readCsv(text: string): CsvContent {
  const records: CsvRecord[] = []
  let line = 1
  const onRecord = (fields: string[]): null => {
    if (fields.length > 1 || fields[0] !== '') records.push({ line, fields })
    // csv-parse 7.0 counts a CRLF within quotes as two lines in its own `info.lines`.
    line += 1 + fields.reduce((count, field) => count + lineBreaksIn(field), 0)
    return null
  }
  const options = { bom: true, relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'], on_record: onRecord }
  try {
    parse(text, options)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { records, fault: { line, reason: FAULTS[error.code] ?? error.message } }
  }
  return { records }
}

const lineBreaksIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0

const LIST_SEPARATOR = '|'

/**
 * Converts the cells of a CSV row to the data of a connector object. A reference is an external ID, lists are separated
 * by `|`, empty cells are omitted. Invalid values are sent unchanged: the API reports them with a precise message.
 */
export function dataOfCells(objectType: ObjectType, cells: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    [...cells].flatMap(([name, cell]) => (cell === '' ? [] : [[name, valueOfCell(objectType, name, cell)]])),
  )
}

function valueOfCell(objectType: ObjectType, name: string, cell: string): unknown {
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
