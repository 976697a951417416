import type { Container } from '@azure/cosmos'
import type { CoreObject, ObjectType } from '../domain/core/core-object.ts'
import { type CoreObjectDocument, parsedCoreObject } from './core-object-document.ts'
import { queryDocuments } from './documents.ts'

type Searchable = {
  /** Compared as they are. */
  readonly exact: readonly string[]
  /** Compared in lower case, the only form in which they are stored. */
  readonly ids: readonly string[]
  /** Searched for the text, whatever its case. */
  readonly substring: readonly string[]
  readonly order: string
}

/** Statement, "Core objects": the searchable attributes. */
const SEARCHABLE: Record<ObjectType, Searchable> = {
  identity: {
    exact: ['attributes.nin', 'attributes.directoryOnPremisesSamAccountName'],
    ids: ['attributes.directoryObjectId'],
    substring: ['attributes.displayName', 'attributes.email', 'attributes.directoryUserPrincipalName'],
    order: 'attributes.displayName',
  },
  orgUnit: {
    exact: ['externalId'],
    ids: [],
    substring: ['attributes.displayName', 'attributes.email'],
    order: 'attributes.displayName',
  },
  relationship: {
    exact: ['attributes.employeeId'],
    ids: [],
    substring: ['attributes.title'],
    order: 'attributes.title',
  },
}

const PAGE_SIZE = 100

/** Matches by display name or title and then id, those without one last. */
export async function* searchCoreObjectDocuments(
  container: Container,
  tenantId: string,
  objectType: ObjectType,
  text: string,
): AsyncGenerator<CoreObject> {
  const { exact, ids, substring, order } = SEARCHABLE[objectType]
  const matches = [
    ...exact.map((name) => `c.${name} = @text`),
    ...ids.map((name) => `c.${name} = @id`),
    ...substring.map((name) => `CONTAINS(c.${name}, @text, true)`),
  ].join(' OR ')
  const live = 'c.objectType = @objectType AND c.deleted = false'
  const parameters = [
    { name: '@objectType', value: objectType },
    { name: '@text', value: text },
    { name: '@id', value: text.toLowerCase() },
  ]
  // Ordering leaves out what has nothing to be ordered by.
  for (const query of [
    `SELECT * FROM c WHERE ${live} AND (${matches}) ORDER BY c.${order}`,
    `SELECT * FROM c WHERE ${live} AND NOT IS_DEFINED(c.${order}) AND (${matches}) ORDER BY c.id`,
  ]) {
    const options = { maxItemCount: PAGE_SIZE }
    for await (const page of queryDocuments<CoreObjectDocument>(container, tenantId, { query, parameters }, options)) {
      yield* page.map(parsedCoreObject)
    }
  }
}
