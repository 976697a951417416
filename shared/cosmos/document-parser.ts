import type { Resource } from '@azure/cosmos'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { membersNamedIn } from '../kernel/schema.ts'
import type { Versioned } from '../kernel/versioned.ts'

/** Members that a schema does not name are allowed, so that versions of the service can run side by side. */
const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allowUnionTypes: true })

/**
 * Creates the parser of one kind of stored document. The parser returns the members that the schema names and leaves
 * out all others, such as those that the database adds. It throws an error that names the document when the document
 * does not match the schema. `T`: where the type of what is stored says more than the schema checks.
 *
 * The validator is compiled at the first document, so that a cold start pays only for what it reads. Schemas of
 * documents that are read by the thousand use plain strings, because the pattern of a GUID triples the time of a check.
 */
export function documentParser<S extends TObject, T extends object = Readonly<Static<S>>>(
  kind: string,
  schema: S,
): (document: object) => T {
  const check = documentCheck(kind, schema)
  return (document) => {
    check(document)
    return membersNamedIn(schema, document) as T
  }
}

/**
 * The attributes of an object. Their values are not checked: at 0.8 µs each, this would take most of the time to read
 * objects with a hundred attributes, and block other requests for 80 ms for a thousand of them.
 */
export const StoredAttributes = Type.Object({})

/** Parses documents of one kind that are replaced as a whole. */
export type VersionedDocumentParser<T> = {
  /**
   * The record without the database's own members (`_etag`, `_ts`, ... and `ttl`).
   * @throws Error for an invalid document.
   */
  parse(document: unknown): Versioned<T>
  /** The record in the database's response to a write. @throws Error for a response without a valid document. */
  parseWritten(response: { readonly resource?: Resource | undefined }): Versioned<T>
}

/**
 * As `documentParser`, but keeps members that the schema does not name, so that a replacement does not remove them.
 * @param added values of members that documents of earlier versions of the service lack.
 */
export function versionedDocumentParser<S extends TSchema>(
  kind: string,
  schema: S,
  added: Partial<Static<S>> = {},
): VersionedDocumentParser<Static<S>> {
  const check = documentCheck(kind, schema)
  const parse = (document: unknown): Versioned<Static<S>> => {
    const complete = { ...added, ...(document as Resource) }
    check(complete)
    const { _etag: version, ...rest } = complete
    const members = Object.entries(rest).filter(([key]) => !key.startsWith('_') && key !== 'ttl')
    return { value: Object.fromEntries(members) as Static<S>, version }
  }
  return {
    parse,
    parseWritten({ resource }) {
      if (resource === undefined) throw new Error(`The database did not return the ${kind} that was written.`)
      return parse(resource)
    },
  }
}

function documentCheck(kind: string, schema: TSchema): (document: unknown) => void {
  let validate: ValidateFunction | undefined
  return (document) => {
    validate ??= ajv.compile(schema as AnySchemaObject)
    if (validate(document)) return
    const { id } = document as Partial<Resource>
    const [{ instancePath = '', message = '' } = {}] = validate.errors ?? []
    throw new Error(`Stored document ${id} is not a valid ${kind}: ${instancePath} ${message}`)
  }
}
