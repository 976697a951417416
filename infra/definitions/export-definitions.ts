import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Document } from 'yaml'
import type { WireGroup } from '../../shared/domain/criteria/condition.ts'
import { showsHidden } from '../../shared/domain/criteria/hidden-values.ts'
import { isGuid } from '../../shared/kernel/guid.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'
import { CommandError } from '../command.ts'
import type { ApiCall } from '../import/api-connection.ts'
import { type DefinitionFile, type FileFault, readDefinitionFiles, schemaComment } from './definition-file.ts'
import { definitionSchema, SCHEMA_FILE, SETTINGS_MEMBERS } from './definition-schema.ts'
import { updateDocument } from './merge-comments.ts'
import { describedFault } from './print-plan.ts'
import { replaceReferences } from './references.ts'
import {
  type CollectionRecord,
  contains,
  DEFINITION_MEMBER,
  findGroups,
  type LinkRecord,
  type Tenant,
  uniqueNames,
} from './tenant.ts'
import { normalisedDefinition, wantedCollections } from './wanted.ts'

/** What a file should contain. `key` identifies what it defines. */
type Exported = {
  readonly key: string
  readonly folder: 'collections' | 'links' | '.'
  readonly fileName: string
  readonly value: JsonObject
}

/** Paths of files, by what was done. */
export type ExportOutcome = {
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  /** Files of what the tenant does not have. */
  readonly surplus: readonly string[]
  /** Files with `hidden` in place of values that the caller may not read. */
  readonly withHiddenValues: readonly string[]
}

/**
 * Writes the tenant's definitions into a folder. Files that define them already, wherever in the folder, are changed
 * where they differ and keep their comments.
 * @param prunes whether surplus files are deleted
 * @throws CommandError when collections have the same name, or when an existing file has a mistake
 */
export async function exportDefinitions(
  folder: string,
  tenant: Tenant,
  prunes: boolean,
  call: ApiCall,
): Promise<ExportOutcome> {
  refuseSameNames(tenant)
  mkdirSync(folder, { recursive: true })
  const { files, faults } = readDefinitionFiles(folder)
  refuseFaults(faults)
  const groupNames = await namesOfGroups(tenant.links, call)
  const groupIds = await findGroups(files.flatMap(groupOf), call)
  const existing = new Map(files.map((file) => [keyOf(file, groupIds), file]))
  const known = new Map(wantedCollections(files, tenant).collections.map((collection) => [collection.name, collection]))
  const exported = exportedOf(tenant, groupNames)
  const hidden = new Set(tenant.collections.filter(hidesValues).map(({ name }) => `collection ${name}`))
  const [written, unchanged, withHiddenValues]: [string[], string[], string[]] = [[], [], []]
  const schema = join(folder, SCHEMA_FILE)
  record(writeIfChanged(schema, `${JSON.stringify(definitionSchema(), undefined, 2)}\n`), schema)
  for (const { key, folder: kind, fileName, value } of exported) {
    const file = existing.get(key)
    existing.delete(key)
    if (file === undefined) {
      const path = freePath(join(folder, kind), fileName, key)
      record(writeIfChanged(path, newText(value, schemaComment(folder, path))), path, key)
    } else if (isAsExported(file, value, known.get(key.slice('collection '.length)), tenant)) {
      record(false, file.file, key)
    } else {
      updateDocument(file.document, withFileReferences(file, value))
      record(writeIfChanged(file.file, file.document.toString(YAML_FORMAT)), file.file, key)
    }
  }
  const surplus = [...existing.values()].map(({ file }) => file)
  if (prunes) for (const file of surplus) rmSync(file)
  return { written, unchanged, surplus, withHiddenValues }

  function record(isWritten: boolean, path: string, key = ''): void {
    ;(isWritten ? written : unchanged).push(path)
    if (hidden.has(key)) withHiddenValues.push(path)
  }
}

const hidesValues = ({ kind, definition }: CollectionRecord): boolean =>
  kind === 'criteria' && showsHidden(definition as unknown as WireGroup)

/** Long texts stay on one line, so that a changed word is one changed line. */
const YAML_FORMAT = { lineWidth: 0 } as const

function newText(value: JsonObject, comment: string): string {
  const document = new Document(value)
  document.commentBefore = comment
  return document.toString(YAML_FORMAT)
}

function writeIfChanged(path: string, text: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return true
}

/** Whether a file means what would be written: names or ids, and conditions in other words, are the same. */
function isAsExported(
  file: DefinitionFile,
  value: JsonObject,
  wanted: ReturnType<typeof wantedCollections>['collections'][number] | undefined,
  tenant: Tenant,
): boolean {
  if (file.kind === 'settings') return contains(value, file.value)
  if (file.kind === 'link') return file.value.collection === value.collection && stateOf(file.value) === stateOf(value)
  const record = wanted?.record
  if (wanted === undefined || record === undefined || wanted.file !== file || wanted.kind !== record.kind) return false
  const stored = normalisedDefinition(record.kind, record.definition, tenant.schema, record.objectType).definition
  return (
    wanted.objectType === record.objectType &&
    (wanted.description ?? '') === (record.description ?? '') &&
    isDeepStrictEqual(wanted.metadata, record.metadata) &&
    isDeepStrictEqual(wanted.definition, stored)
  )
}

const stateOf = ({ state }: JsonObject): Json => state ?? 'Enabled'

/** Keeps how a file refers to a group, and which settings it leaves out. */
function withFileReferences(file: DefinitionFile, value: JsonObject): JsonObject {
  if (file.kind === 'link') return { ...value, group: file.value.group ?? null }
  if (file.kind !== 'settings') return value
  return Object.fromEntries(Object.keys(file.value).map((name) => [name, value[name] ?? null]))
}

function exportedOf(tenant: Tenant, groupNames: ReadonlyMap<string, string>): Exported[] {
  const nameOf = new Map(tenant.collections.map(({ id, name }) => [id, name]))
  const collections = withFileNames(
    tenant.collections.map((record) => ({
      key: `collection ${record.name}`,
      folder: 'collections' as const,
      name: record.name,
      value: collectionValue(record, nameOf),
    })),
  )
  const links = withFileNames(
    tenant.links.map((link) => ({
      key: `link ${link.directoryGroupId}`,
      folder: 'links' as const,
      name: groupNames.get(link.directoryGroupId) ?? link.directoryGroupId,
      value: linkValue(link, nameOf, groupNames),
    })),
  )
  const settings = { key: 'settings', folder: '.', fileName: 'settings.yaml', value: settingsValue(tenant) } as const
  return [...collections, ...links, settings]
}

function collectionValue(record: CollectionRecord, nameOf: ReadonlyMap<string, string>): JsonObject {
  const { kind, name, objectType, description, metadata, definition } = record
  const tags = metadata.tags.length > 0 ? { tags: metadata.tags } : {}
  const names = Object.keys(metadata.attributes).sort()
  const attributes = Object.fromEntries(names.map((key) => [key, metadata.attributes[key] ?? '']))
  const members = { ...tags, ...(names.length > 0 ? { attributes } : {}) }
  return {
    name,
    objectType,
    ...(description ? { description } : {}),
    ...(Object.keys(members).length > 0 ? { metadata: members } : {}),
    [DEFINITION_MEMBER[kind]]: replaceReferences(definition, (id) => {
      const collection = nameOf.get(String(id))
      return collection === undefined ? id : { collection }
    }),
  }
}

function linkValue(
  { collectionId, directoryGroupId, state }: LinkRecord,
  nameOf: ReadonlyMap<string, string>,
  groupNames: ReadonlyMap<string, string>,
): JsonObject {
  const collection = nameOf.get(collectionId) ?? collectionId
  return { collection, group: groupNames.get(directoryGroupId) ?? directoryGroupId, state }
}

function settingsValue({ settings }: Tenant): JsonObject {
  return Object.fromEntries(
    SETTINGS_MEMBERS.flatMap((name) => (name in settings ? [[name, settings[name] ?? null]] : [])),
  )
}

/** The display names of the groups of links, where one group only has the name. */
async function namesOfGroups(links: readonly LinkRecord[], call: ApiCall): Promise<ReadonlyMap<string, string>> {
  const named = links.filter((link) => link.directoryGroupDisplayName !== null)
  const found = await findGroups(
    named.map((link) => link.directoryGroupDisplayName ?? ''),
    call,
  )
  return new Map(
    named.flatMap(({ directoryGroupId, directoryGroupDisplayName: name }) => {
      const [first, second] = found.get(name ?? '') ?? []
      return first === directoryGroupId && second === undefined ? [[directoryGroupId, name ?? '']] : []
    }),
  )
}

function keyOf({ kind, value, file }: DefinitionFile, groupIds: ReadonlyMap<string, readonly string[]>): string {
  if (kind === 'settings') return 'settings'
  if (kind !== 'link') return `collection ${String(value.name)}`
  const group = String(value.group)
  return `link ${isGuid(group) ? group.toLowerCase() : (groupIds.get(group)?.[0] ?? file)}`
}

function groupOf({ kind, value }: DefinitionFile): string[] {
  return kind === 'link' ? [String(value.group)] : []
}

/** Names that Windows keeps for devices. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/

const TRANSLITERATED: Readonly<Record<string, string>> = { æ: 'ae', ø: 'o', å: 'a', ß: 'ss', đ: 'd', ł: 'l' }

/** `Lærere ved skolen` is `laerere-ved-skolen`. A name that would not be unique, or not be possible, has a hash. */
function withFileNames(values: readonly (Omit<Exported, 'fileName'> & { readonly name: string })[]): Exported[] {
  const slugOf = ({ name }: { readonly name: string }) =>
    name
      .toLowerCase()
      .replace(/[æøåßđł]/g, (letter) => TRANSLITERATED[letter] ?? '')
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 80)
      .replace(/^-+|-+$/g, '')
  const unique = uniqueNames(values, slugOf)
  return values
    .map((value) => {
      const slug = slugOf(value)
      const isPossible = unique.has(slug) && slug !== '' && !RESERVED.test(slug)
      return { ...value, fileName: `${isPossible ? slug : hashed(slug, value.key)}.yaml` }
    })
    .sort((left, right) => (left.fileName < right.fileName ? -1 : 1))
}

function hashed(slug: string, key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8)
  return slug === '' ? hash : `${slug}-${hash}`
}

/** A path without a file: another file may have the name already. */
function freePath(folder: string, fileName: string, key: string): string {
  const path = join(folder, fileName)
  return existsSync(path) ? join(folder, `${hashed(fileName.replace(/\.yaml$/, ''), key)}.yaml`) : path
}

function refuseSameNames({ collections }: Tenant): void {
  const repeated = [...Map.groupBy(collections, ({ name }) => name)].filter(([, records]) => records.length > 1)
  if (repeated.length === 0) return
  const names = repeated.map(([name, records]) => `${name} (${records.map(({ id }) => id).join(', ')})`)
  throw new CommandError(`Names identify collections, but several are called ${names.join('; ')}`)
}

/** A file that cannot be read may define what would be written a second time. */
function refuseFaults(faults: readonly FileFault[]): void {
  if (faults.length === 0) return
  throw new CommandError(`Correct these first:\n${faults.map(describedFault).join('\n')}`)
}
