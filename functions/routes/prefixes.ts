/**
 * Where each group of routes begins, without slashes at its ends. Apart from the routes themselves, so that a trigger can
 * say where it listens without loading them.
 */
export const PREFIXES = {
  collections: 'collections/beta',
  criteria: 'collections-criteria/beta',
  joinable: 'collections-joinable/beta',
  groupLink: 'group-link/beta',
  coreObjects: 'iamcore/beta/sync/coreobjects',
  connectors: 'iamcore/beta/sync/connectors',
  /** The route that the statement names: reading only. */
  connectorsReading: 'iamcore/sync/connectors',
} as const
