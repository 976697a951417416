import type { Resource } from '@azure/cosmos'
import type { Versioned } from '../kernel/versioned.ts'

/** A document as the domain knows it: the database's own members (`_etag`, `_ts`, ... and `ttl`) become the version. */
export function toVersioned<T extends object>(document: T & Resource): Versioned<T> {
  const members = Object.entries(document).filter(([name]) => !name.startsWith('_') && name !== 'ttl')
  return { value: Object.fromEntries(members) as T, version: document._etag }
}

/** The database answers every create and replace with the document; without it there is no version to go on with. */
export function written<T extends object>(response: { resource?: (T & Resource) | undefined }): Versioned<T> {
  if (response.resource === undefined) throw new Error('The database did not answer with the document it wrote')
  return toVersioned<T>(response.resource)
}
