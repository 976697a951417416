import type { Resource } from '@azure/cosmos'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import type { Versioned } from '../kernel/versioned.ts'

/** Parses documents of one kind. */
export type DocumentParser<T> = {
  /** The record without the database's own members (`_etag`, `_ts`, ... and `ttl`). @throws Error for an invalid document. */
  parse(document: unknown): Versioned<T>
  /** The record in the database's response to a write. @throws Error for a response without a valid document. */
  parseWritten(response: { readonly resource?: Resource | undefined }): Versioned<T>
}

/** Members that a schema does not name are allowed and kept, so that versions of the service can run side by side. */
const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allowUnionTypes: true })

/**
 * A stored document is outside input, and is checked against its schema whenever it is read. The schema is compiled with
 * the first document.
 * @param name of the record, for errors.
 */
export function documentParser<S extends TSchema>(name: string, schema: S): DocumentParser<Static<S>> {
  let validate: ValidateFunction | undefined
  const parse = (document: unknown): Versioned<Static<S>> => {
    const { _etag: version, id } = document as Resource
    const members = Object.entries(document as Resource).filter(([key]) => !key.startsWith('_') && key !== 'ttl')
    const value: unknown = Object.fromEntries(members)
    validate ??= ajv.compile(schema as AnySchemaObject)
    if (!validate(value)) {
      const [{ instancePath = '', message = '' } = {}] = validate.errors ?? []
      throw new Error(`The stored ${name} ${id} is invalid: ${instancePath} ${message}.`)
    }
    return { value: value as Static<S>, version }
  }
  return {
    parse,
    parseWritten({ resource }) {
      if (resource === undefined) throw new Error(`The database did not return the ${name} that was written.`)
      return parse(resource)
    },
  }
}
