import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { attributeNamed, schemaName } from '../../shared/domain/core/attribute-names.ts'
import { attributeDefinition, OBJECT_TYPES, type ObjectType } from '../../shared/domain/core/core-object.ts'
import { type CustomTypes, NO_CUSTOM_TYPES } from '../../shared/domain/core/custom-types.ts'
import { CommandError } from '../command.ts'
import { type CsvDelimiter, dataOfCells, readCsv, recognisedDelimiter } from './csv.ts'
import { type FileEncoding, type FileText, LINE_BREAK, type RecognisedEncoding, readFileText } from './file-text.ts'

export type FileObject = {
  readonly file: string
  readonly line: number
  readonly objectType: ObjectType
  readonly externalId: string
  /** The name that the object has had so far. */
  readonly previousExternalId?: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A line that cannot be sent, or that the API refused. */
export type InvalidLine = { readonly file: string; readonly line: number; readonly reason: string }

export type FileEntry = FileObject | InvalidLine

export const isInvalid = (entry: FileEntry): entry is InvalidLine => 'reason' in entry

const EXTENSIONS = ['.csv', '.jsonl', '.ndjson']
/** Names of the files in a folder and their object types. Referenced types come first. */
const FILE_NAMES: Readonly<Record<string, ObjectType>> = {
  orgunits: 'orgUnit',
  identities: 'identity',
  relationships: 'relationship',
}

/** @throws CommandError if the file or folder does not exist or contains nothing to import */
export async function filesToImport(path: string): Promise<string[]> {
  const found = await stat(path).catch((cause) => {
    throw new CommandError(`File or folder not found: ${path}`, { cause })
  })
  if (!found.isDirectory()) {
    if (!EXTENSIONS.includes(extname(path).toLowerCase()))
      throw new CommandError(`${path} is not a .csv or .jsonl file`)
    return [path]
  }
  const names = Object.keys(FILE_NAMES)
  const files = (await readdir(path)).filter((name) => EXTENSIONS.includes(extname(name).toLowerCase()))
  const known = files.filter((name) => typeOfFile(name) !== undefined)
  if (known.length === 0) {
    throw new CommandError(`${path} does not contain ${names.join(', ')} with the extension ${EXTENSIONS.join(', ')}`)
  }
  return known
    .sort((first, second) => names.indexOf(stem(first)) - names.indexOf(stem(second)) || (first < second ? -1 : 1))
    .map((name) => join(path, name))
}

const stem = (file: string): string => basename(file, extname(file)).toLowerCase()

function typeOfFile(file: string): ObjectType | undefined {
  return Object.hasOwn(FILE_NAMES, stem(file)) ? FILE_NAMES[stem(file)] : undefined
}

/** How a file is read. A file of JSON lines or without content has no delimiter. */
export type FileFormat = RecognisedEncoding & { readonly file: string; readonly delimiter?: CsvDelimiter }

/**
 * Reads the entries of a file, as a stream. An invalid line does not end the file.
 * @param onFormat receives the format of the file before its first entry
 * @param types Of the tenant's custom attributes.
 * @throws CommandError if the file is not in the encoding, or has no valid header
 */
export async function* readImportFile(
  file: string,
  encoding: FileEncoding,
  onFormat: (format: FileFormat) => void,
  types: CustomTypes = NO_CUSTOM_TYPES,
): AsyncGenerator<FileEntry> {
  const texts = readFileText(file, encoding)
  const first = await texts.next()
  if (first.done) return onFormat({ file, encoding, hasByteOrderMark: false })
  const recognised = { file, encoding: first.value.encoding, hasByteOrderMark: first.value.hasByteOrderMark }
  const all = withFirst(first.value, texts)
  if (extname(file).toLowerCase() !== '.csv') {
    onFormat(recognised)
    return yield* readJsonLines(file, all)
  }
  const type = typeOfFile(file)
  const required = type === undefined ? [EXTERNAL_ID] : [EXTERNAL_ID, schemaName(type, EXTERNAL_ID)]
  const delimiter = recognisedDelimiter(first.value.text, required)
  onFormat({ ...recognised, delimiter })
  yield* readCsvFile(file, all, delimiter, types)
}

async function* withFirst(first: FileText, others: AsyncIterable<FileText>): AsyncGenerator<FileText> {
  yield first
  yield* others
}

async function* readCsvFile(
  file: string,
  texts: AsyncIterable<FileText>,
  delimiter: CsvDelimiter,
  types: CustomTypes,
): AsyncGenerator<FileEntry> {
  let header: readonly string[] | undefined
  for await (const record of readCsv(contentOf(texts), delimiter)) {
    if ('reason' in record) yield { file, ...record, reason: `${record.reason}; the rest of the file was not read` }
    else if (header === undefined) header = checkedHeader(file, record.fields)
    else yield objectOfRow(file, record.line, { header, types }, record.fields)
  }
}

async function* contentOf(texts: AsyncIterable<FileText>): AsyncGenerator<string> {
  for await (const { text } of texts) yield text
}

function checkedHeader(file: string, fields: readonly string[]): readonly string[] {
  const type = typeOfFile(file)
  const names = fields.map((name) => (type === undefined ? name.trim() : attributeOfColumn(type, name.trim())))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new CommandError(`${file} has a duplicate column ${twice}`)
  if (!names.includes(EXTERNAL_ID)) throw new CommandError(`${file} has no column externalId`)
  if (!names.includes('objectType') && typeOfFile(file) === undefined) {
    throw new CommandError(`${file} requires a column objectType, or one of the file names ${Object.keys(FILE_NAMES)}`)
  }
  return names
}

const EXTERNAL_ID = 'externalId'
const PREVIOUS_EXTERNAL_ID = 'previousExternalId'

/** The attribute of a column, which can also have the attribute's name in conditions: `identityDisplayName`. */
function attributeOfColumn(objectType: ObjectType, name: string): string {
  const named = attributeDefinition(objectType, name) === undefined ? attributeNamed(name) : undefined
  return named?.objectType === objectType ? named.attribute : name
}

type Columns = { readonly header: readonly string[]; readonly types: CustomTypes }

function objectOfRow(file: string, line: number, { header, types }: Columns, fields: readonly string[]): FileEntry {
  if (fields.length !== header.length) {
    return { file, line, reason: `the line has ${fields.length} fields, the header has ${header.length}` }
  }
  const cells = new Map(header.map((name, index) => [name, fields[index] ?? '']))
  const objectType = cells.get('objectType') || typeOfFile(file)
  const names = checkedNames(objectType, cells.get(EXTERNAL_ID), cells.get(PREVIOUS_EXTERNAL_ID) || undefined)
  if ('reason' in names) return { file, line, ...names }
  for (const name of ['objectType', EXTERNAL_ID, PREVIOUS_EXTERNAL_ID]) cells.delete(name)
  const attributes = new Map([...cells].map(([name, cell]) => [attributeOfColumn(names.objectType, name), cell]))
  return { file, line, ...names, data: dataOfCells(names.objectType, attributes, types) }
}

async function* readJsonLines(file: string, texts: AsyncIterable<FileText>): AsyncGenerator<FileEntry> {
  for await (const { firstLine, text } of texts) {
    for (const [index, content] of text.split(LINE_BREAK).entries()) {
      if (content.trim() !== '') yield objectOfJson(file, firstLine + index, content)
    }
  }
}

function objectOfJson(file: string, line: number, text: string): FileEntry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { file, line, reason: `invalid JSON: ${(error as Error).message}` }
  }
  if (!isRecord(value)) return { file, line, reason: 'the line is not a JSON object' }
  const names = checkedNames(
    value.objectType ?? typeOfFile(file),
    value.externalId,
    value.previousExternalId ?? undefined,
  )
  if ('reason' in names) return { file, line, ...names }
  if (!isRecord(value.data)) return { file, line, reason: 'data must be an object' }
  return { file, line, ...names, data: value.data }
}

function checkedNames(
  objectType: unknown,
  externalId: unknown,
  previousExternalId: unknown,
): Pick<FileObject, 'objectType' | 'externalId' | 'previousExternalId'> | { reason: string } {
  if (!(OBJECT_TYPES as readonly unknown[]).includes(objectType)) {
    return { reason: `objectType must be one of ${OBJECT_TYPES.join(', ')}` }
  }
  if (typeof externalId !== 'string' || externalId === '') return { reason: 'externalId is required' }
  if (previousExternalId !== undefined && typeof previousExternalId !== 'string') {
    return { reason: 'previousExternalId must be a string' }
  }
  return { objectType: objectType as ObjectType, externalId, ...(previousExternalId && { previousExternalId }) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
