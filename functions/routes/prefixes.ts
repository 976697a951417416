// Paths only: triggers import this module without loading the routes.

/** The path prefix of each route group, without leading and trailing slash. */
export const PREFIXES = {
  collections: 'collections/beta',
  criteria: 'collections-criteria/beta',
  joinable: 'collections-joinable/beta',
  groupLink: 'group-link/beta',
  coreObjects: 'iamcore/beta/sync/coreobjects',
  connectors: 'iamcore/beta/sync/connectors',
  /** Read-only, without the version segment, for clients that use this path. */
  connectorsReading: 'iamcore/sync/connectors',
} as const

export const DOCUMENT_PATH = '/openapi.json'

/** The reference page. Its scripts and styles have paths below it. */
export const REFERENCE_PAGE_PATH = '/docs'

/** The page about the language of conditions, which the function of the reference page serves. */
export const CONDITIONS_PAGE_PATH = '/docs/conditions'

/** The page of the console that the reference page opens to sign a person in. */
export const TOKEN_PAGE_PATH = '/console/api-token'
