import type { MergedCoreObject } from '../domain/connectors/merged-core-object.ts'
import { type CoreObject, isObjectType } from '../domain/core/core-object.ts'
import type { Stored } from './documents.ts'

/** A document of the container `coreObjects`. A deleted one has a `ttl`. */
export type CoreObjectDocument = Stored<MergedCoreObject & { readonly tenantId: string; readonly ttl?: number }>

/** @throws Error when the document is not a core object. */
export function parsedMerged(document: CoreObjectDocument): MergedCoreObject {
  const { id, objectType, externalId, attributes, contributors, deleted, accountMovedAtMs } = document
  const isWhole = typeof externalId === 'string' && typeof attributes === 'object' && Array.isArray(contributors)
  if (!isWhole || !isObjectType(objectType)) throw new Error(`The stored core object ${id} is not one`)
  const merged = { id, objectType, externalId, attributes, contributors, deleted: deleted === true }
  return accountMovedAtMs === undefined ? merged : { ...merged, accountMovedAtMs }
}

/** The same with the store's own time. @throws Error when the document is not a core object. */
export function parsedCoreObject(document: CoreObjectDocument): CoreObject {
  const { id, objectType, externalId, attributes, deleted } = parsedMerged(document)
  return { id, objectType, externalId, attributes, deleted, lastUpdatedS: document._ts }
}
