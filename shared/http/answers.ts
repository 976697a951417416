import type { Versioned } from '../kernel/versioned.ts'
import type { RouteResult } from './envelope.ts'

/** The data alone. */
export function ok<T>(data: T): RouteResult<T> {
  return { data }
}

/** A record with its version as `ETag`. */
export function okVersioned<T, Record>(
  { value, version }: Versioned<T>,
  toRecord: (value: T) => Record,
): RouteResult<Record> {
  return { data: toRecord(value), headers: { etag: version } }
}

/** A new thing: its id, and where it is. `collectionPath` is without slashes at its ends. */
export function created(collectionPath: string, id: string): RouteResult<string> {
  return { data: id, headers: { location: `/${collectionPath}/${id}` } }
}

/** The answer to a deletion, once it is done. */
export async function deleted(deletion: Promise<void>): Promise<RouteResult<null>> {
  await deletion
  return { data: null }
}
