// Apart from what is served there, so that a trigger can say where it listens without loading that.

/** The description of the API. */
export const DOCUMENT_PATH = '/openapi.json'

/** The page that shows it; what it consists of lies below. */
export const REFERENCE_PAGE_PATH = '/docs'
