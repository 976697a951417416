import type { PublicFiles } from '../../shared/http/public-files.ts'
import { DOCUMENT_PATH, REFERENCE_PAGE_PATH } from '../../shared/http/public-paths.ts'
import { conditionComponents } from '../../shared/openapi/condition-schemas.ts'
import { connectorDataComponents } from '../../shared/openapi/connector-data-schemas.ts'
import { type ApiDescription, apiDocument, type Tag } from '../../shared/openapi/document.ts'
import type { DescribedFile } from '../../shared/openapi/file-operations.ts'
import { describedRoutes } from './all-routes.ts'
import { COLLECTION_ANSWERS, COLLECTION_EXAMPLES } from './examples/collection-examples.ts'
import { CORE_DATA_ANSWERS, CORE_DATA_EXAMPLES } from './examples/core-data-examples.ts'
import { LINK_ANSWERS, LINK_EXAMPLES } from './examples/link-examples.ts'
import { REQUEST_ANSWERS, REQUEST_EXAMPLES } from './examples/request-examples.ts'
import { NAMED_SCHEMAS } from './named-schemas.ts'

export const SERVICE_TITLE = 'Collections, Group Link and Core Objects'

const CONNECTORS: Tag = {
  name: 'Connectors',
  description:
    'Where people, positions and org units come from, and what each source says of them. Two sources speak of one ' +
    'person when they give the same `nin` or, where one gives none, the same `directoryObjectId`; people of different ' +
    '`nin` are never joined, whatever account they share. Of several with the account, whoever has no `nin` goes with ' +
    "the oldest connector's. Attributes of the oldest connector win, the others fill what is missing. When two turn " +
    "out to be one, the core id of the older connector's stays.",
}
const TAGS: ApiDescription['tags'] = {
  'collections/beta': { name: 'Collections', description: 'Reading collections of either kind, and who is in them.' },
  'collections-criteria/beta': {
    name: 'Criteria collections',
    description: 'Collections that a condition fills: whoever satisfies it is a member, within seconds.',
  },
  'collections-joinable/beta': {
    name: 'Joinable collections and membership requests',
    description: 'Collections that people ask to join, and those who decide on it.',
  },
  'group-link/beta': {
    name: 'Group links',
    description: 'Keeping a group of the directory equal to a collection, and the jobs that do it.',
  },
  'iamcore/beta/sync/coreobjects': {
    name: 'Core objects',
    description: 'Reading identities, org units and relationships, as merged from all connectors.',
  },
  'iamcore/beta/sync/connectors': CONNECTORS,
  'iamcore/sync/connectors': CONNECTORS,
}

const FILES: readonly DescribedFile[] = [
  {
    path: DOCUMENT_PATH,
    operationId: 'readApiDocument',
    summary: 'This document',
    contentType: 'application/json',
    schema: { type: 'object' },
  },
  {
    path: REFERENCE_PAGE_PATH,
    operationId: 'readReferencePage',
    summary: 'This document as a page to read, and to try the API from',
    contentType: 'text/html',
    schema: { type: 'string' },
  },
]

/** The description of the whole API, OpenAPI 3.1. */
export function serviceDocument(): object {
  return apiDocument({
    title: SERVICE_TITLE,
    version: 'beta',
    groups: describedRoutes(),
    tags: TAGS,
    schemas: NAMED_SCHEMAS,
    detailedSchemas: {
      ...conditionComponents(),
      ...connectorDataComponents(),
    },
    examples: {
      schemas: { ...COLLECTION_EXAMPLES, ...REQUEST_EXAMPLES, ...LINK_EXAMPLES, ...CORE_DATA_EXAMPLES },
      answers: { ...COLLECTION_ANSWERS, ...REQUEST_ANSWERS, ...LINK_ANSWERS, ...CORE_DATA_ANSWERS },
    },
    files: FILES,
  })
}

/** The document as it is served. */
export function documentFile(): PublicFiles {
  const read = () => Buffer.from(JSON.stringify(serviceDocument()))
  return new Map([[DOCUMENT_PATH, { contentType: 'application/json; charset=utf-8', read }]])
}
