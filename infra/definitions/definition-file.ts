import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { CommandError } from '../command.ts'
import { type FileKind, SCHEMA_FILE, SETTINGS_MEMBERS } from './definition-schema.ts'
import { isObject } from './references.ts'
import { shapeFaults } from './shape-faults.ts'

/** A mistake in a file. Lines and columns are counted from 1. */
export type FileFault = {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A file that has the shape of its kind. */
export type DefinitionFile = {
  readonly file: string
  readonly kind: FileKind
  readonly value: JsonObject
  /** For changes that keep comments. */
  readonly document: Document
  /** A mistake at the value of a JSON pointer, or at the nearest one around it. */
  fault(pointer: string, message: string): FileFault
}

export type ReadFiles = { readonly files: readonly DefinitionFile[]; readonly faults: readonly FileFault[] }

/**
 * Reads the YAML files of a folder and of the folders in it, except hidden ones.
 * @throws CommandError when there is no such folder
 */
export function readDefinitionFiles(folder: string): ReadFiles {
  const [files, faults]: [DefinitionFile[], FileFault[]] = [[], []]
  for (const file of yamlFiles(folder)) {
    const read = readDefinitionFile(file, readFileSync(file, 'utf8'))
    if (Array.isArray(read)) faults.push(...read)
    else if (read !== undefined) files.push(read)
  }
  return { files, faults }
}

function yamlFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.ya?ml$/i.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !/(^|[\\/])(\.[^\\/]|node_modules[\\/])/.test(relative(folder, file)))
      .sort()
  } catch (cause) {
    throw new CommandError(`Cannot read the folder ${folder}: ${(cause as Error).message}`, { cause })
  }
}

/** The file, or its mistakes. Undefined for an empty file. */
function readDefinitionFile(file: string, text: string): DefinitionFile | FileFault[] | undefined {
  const lines = new LineCounter()
  const place = (offset: number, message: string): FileFault => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), message }
  }
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  if (!Array.isArray(documents) || documents[0] === undefined) return undefined
  const errors = documents.flatMap((document) => document.errors)
  if (errors.length > 0) return errors.map(({ pos: [offset], message }) => place(offset, message))
  const [document, second] = documents
  if (second !== undefined) return [place(second.range[0], 'A file holds one definition')]
  const fault = (pointer: string, message: string, isName = false): FileFault =>
    place(offsetOf(document, pointer, isName), message)
  const changed = changedNumbers(document, place)
  if (changed.length > 0) return changed
  const value = jsonOf(document)
  if (value instanceof Error) return [place(0, value.message)]
  if (value === null) return undefined
  const kind = isObject(value) ? kindOf(value) : undefined
  if (kind === undefined) {
    const members = 'condition (criteria collection), joinPolicy (joinable collection), collection and group (link), or'
    return [fault('', `The file has none of the members ${members} ${SETTINGS_MEMBERS.join(', ')} (settings)`)]
  }
  const wrong = shapeFaults(kind, value)
  if (wrong.length > 0) return wrong.map(({ pointer, message, isName }) => fault(pointer, message, isName))
  return { file, kind, value: value as JsonObject, document, fault }
}

/** A bomb of aliases is an error. */
function jsonOf(document: Document): Json | Error {
  try {
    return document.toJS() as Json
  } catch (error) {
    return error as Error
  }
}

function kindOf(value: JsonObject): FileKind | undefined {
  if ('group' in value) return 'link'
  if ('joinPolicy' in value) return 'joinable'
  if ('condition' in value) return 'criteria'
  return SETTINGS_MEMBERS.some((name) => name in value) ? 'settings' : undefined
}

/** Numbers that YAML reads as another text: `0123` would become 123. */
function changedNumbers(document: Document, place: (offset: number, message: string) => FileFault): FileFault[] {
  const faults: FileFault[] = []
  visit(document, {
    Scalar(_key, { value, source, range }) {
      if (typeof value !== 'number' || source === undefined || String(value) === source) return
      faults.push(place(range?.[0] ?? 0, `${source} would be read as ${value}. Write it in quotes`))
    },
  })
  return faults
}

/** Where the value of a JSON pointer begins. A pointer to a member that is missing means the object around it. */
function offsetOf(document: Document, pointer: string, isName: boolean): number {
  let node = document.contents as Node | null
  let offset = node?.range?.[0] ?? 0
  for (const part of pointer.split('/').slice(1)) {
    if (isAlias(node)) node = node.resolve(document) ?? null
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === name)
      if (pair === undefined) return offset
      const value = pair.value as Node | null
      offset = (pair.key as Node).range?.[0] ?? offset
      if (!isName && (isScalar(value) || isSeq(value))) offset = value.range?.[0] ?? offset
      node = value
    } else if (isSeq(node)) {
      node = (node.items[Number(name)] as Node | undefined) ?? null
      offset = node?.range?.[0] ?? offset
    } else return offset
  }
  return offset
}

/** The comment that names the schema for editors. @param file within `folder` */
export function schemaComment(folder: string, file: string): string {
  const path = relative(join(file, '..'), join(folder, SCHEMA_FILE)).replaceAll('\\', '/')
  return ` yaml-language-server: $schema=${path.startsWith('.') ? path : `./${path}`}`
}
